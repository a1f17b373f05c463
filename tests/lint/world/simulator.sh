#!/bin/sh
# Plays nplus1-simnode: FAKE_SIMULATOR says how. Writes to $FAKE_LOG when the job ended.
case "$FAKE_SIMULATOR" in
  dies) exit 1 ;;
  dies_later) echo "ready $2 host:99"; exit 1 ;;
  mute) sleep 0.2; exit 1 ;;
esac
echo "ready $2 host:99"
cat >/dev/null
echo "$1 $2 ended" >>"$FAKE_LOG"
