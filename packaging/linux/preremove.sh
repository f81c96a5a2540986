#!/bin/sh
# Debian passes `remove`, RPM the number of versions that remain. An upgrade does not stop the service.
set -e
case "$1" in
remove | 0)
  if [ -d /run/systemd/system ]; then systemctl disable --now bridge-exporter.service; fi
  ;;
esac
