// SPDX-License-Identifier: Apache-2.0
// The controls of include/ferry/sim.h as functions. That header has only the types of pointers to
// them; the declarations here are made from those, so that the two cannot differ.
#pragma once

#include <ferry/sim.h>

#include <type_traits>

#include "sim/words/cuda_api.hpp"

extern "C" {
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_configure_fn> ferry_sim_configure;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_settings_error_fn> ferry_sim_settings_error;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_reset_fn> ferry_sim_reset;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_fail_nth_fn> ferry_sim_fail_nth;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_calls_fn> ferry_sim_calls;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_call_cost_ps_fn> ferry_sim_call_cost_ps;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_memory_in_use_fn> ferry_sim_memory_in_use;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_drain_fn> ferry_sim_drain;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_peek_fn> ferry_sim_peek;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_take_hazards_fn> ferry_sim_take_hazards;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_register_kernel_fn> ferry_sim_register_kernel;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_operator_begin_fn> ferry_sim_operator_begin;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_operator_touches_fn> ferry_sim_operator_touches;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_operator_end_fn> ferry_sim_operator_end;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_storage_end_fn> ferry_sim_storage_end;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_settle_fn> ferry_sim_settle;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_host_view_fn> ferry_sim_host_view;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_traffic_mark_fn> ferry_sim_traffic_mark;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_now_ps_fn> ferry_sim_now_ps;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_host_work_fn> ferry_sim_host_work;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_host_copy_fn> ferry_sim_host_copy;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_set_thread_node_fn> ferry_sim_set_thread_node;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_place_host_fn> ferry_sim_place_host;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_expect_fn> ferry_sim_thread_expect;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_begin_fn> ferry_sim_thread_begin;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_end_fn> ferry_sim_thread_end;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_pause_fn> ferry_sim_thread_pause;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_wake_fn> ferry_sim_thread_wake;
FERRY_SIM_EXPORT std::remove_pointer_t<ferry_sim_thread_resume_fn> ferry_sim_thread_resume;
}
