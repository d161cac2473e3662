# SPDX-License-Identifier: Apache-2.0
# What setup.sh, test.sh, demo.sh and check.sh share: steps with progress, logs, and a last sentence
# that says what failed and what to do. To be sourced, after `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
cd "$root"

current_step=""
current_remedy=""
current_log=""

# step TITLE REMEDY: names what happens next. An empty title: failures speak for themselves.
step() {
  current_step=$1
  current_remedy=${2:-}
  current_log=""
}

# say LINE...
say() { printf '%s\n' "$@"; }

# fail SENTENCE: ends the script with this sentence and nothing after it.
fail() {
  current_step=""
  say "" "$1" >&2
  exit 1
}

finish() {
  local status=$1
  if [[ $status -ne 0 && -n $current_step ]]; then
    local sentence="Failed: $current_step."
    ((status < 128)) || sentence="Stopped: $current_step."
    [[ -n $current_remedy && $status -lt 128 ]] && sentence+=" $current_remedy"
    [[ -n $current_log ]] && sentence+=" The whole output is in ${current_log#"$root"/}."
    printf '\n%s\n' "$sentence" >&2
  fi
}
trap 'finish $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Takes a command's output to a log and shows how far it is: the "[12/140]" of ninja, the per cent of
# apt. Lines that start with "-- ferry:" are news for people. A terminal gets one line that is written
# over, a file a line for each twentieth, and one when nothing was said for half a minute.
show_progress() {
  local title=$1 log=$2 line part="" share=0 shown=0 said=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t 1 line || status=$?
    if ((status > 128)); then  # nothing new, or the beginning of a line
      part+=$line
      if [[ ! -t 1 ]] && ((SECONDS - said >= ${FERRY_PROGRESS_SECONDS:-30})); then
        say "  $title: still at $share % after $((SECONDS - began)) s"
        said=$SECONDS
      fi
      continue
    fi
    line=$part$line part=""
    [[ $status -eq 0 || -n $line ]] || break
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      share=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    elif [[ $line =~ ^(dl|pm)status:.*:([0-9]+)\.[0-9]+: ]]; then
      share=$((BASH_REMATCH[2] / 2))  # the first half is the download
      [[ ${BASH_REMATCH[1]} == dl ]] || share=$((share + 50))
    elif [[ $line =~ ^--\ ferry:\ (.*) ]]; then
      say "  ${BASH_REMATCH[1]}"
      continue
    else
      continue
    fi
    if [[ -t 1 ]]; then
      printf '\r  %s: %d %%  ' "$title" "$share"
    elif ((share / 5 > shown / 5 || SECONDS - said >= ${FERRY_PROGRESS_SECONDS:-30})); then
      say "  $title: $share %"
      said=$SECONDS
    fi
    shown=$share
  done
  if [[ -t 1 && $shown -ne 0 ]]; then
    printf '\r%*s\r' "$((${#title} + 12))" ""
  fi
}

# run_logged LOG COMMAND...: runs the current step's command with progress; its output goes to
# build/logs/LOG. When it fails, the end of the log is shown.
run_logged() {
  local began=$SECONDS
  mkdir -p "$logs"
  current_log=$logs/$1
  shift
  say "$current_step ..."
  : >"$current_log"
  if ! "$@" 2>&1 </dev/null | show_progress "$current_step" "$current_log"; then
    say "" "--- the last lines of ${current_log#"$root"/}:" >&2
    grep -v '^\(dl\|pm\)status:' "$current_log" | tail -n 40 >&2
    exit 1
  fi
  say "  done in $((SECONDS - began)) s"
}

# configure PRESET: once, and again when the presets have changed or the folder has been moved.
# Later changes of CMake files are noticed by the build itself.
configure() {
  local preset=$1 folder=$root/build/$1 fresh=()
  local stamp=$folder/configured-by-script
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    fresh=(--fresh)
  elif [[ -f $folder/build.ninja && -f $stamp && ! CMakePresets.json -nt $stamp ]]; then
    return
  fi
  step "Configuring ($preset)" "Read the message above; scripts/setup.sh installs what is needed."
  run_logged "configure-$preset.log" cmake --preset "$preset" "${fresh[@]}"
  touch "$stamp"
}

# build PRESET [TARGET...]
build() {
  local preset=$1 targets=()
  shift
  [[ $# -gt 0 ]] && targets=(--target "$@")
  step "Building ($preset)" "Correct the error above and run this script again."
  run_logged "build-$preset.log" cmake --build --preset "$preset" "${targets[@]}"
}
