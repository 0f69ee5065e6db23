//! JSON Lines, JSON, CSV, PowerShell, certutil, rclone, bills of materials.
