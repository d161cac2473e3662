// SPDX-License-Identifier: Apache-2.0
// Holds nothing of its own: the precompiled headers of this file serve all others
// (FerryTarget.cmake).
int main() {}
