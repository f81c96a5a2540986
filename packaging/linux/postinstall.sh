#!/bin/sh
# After the installation and the upgrade: a running service runs the new version. It is not enabled, because it has no configuration yet.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart bridge-exporter.service
fi
