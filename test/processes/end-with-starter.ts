/**
 * Imported first by a process of tests: it ends when the process that started it has ended, however that ended. A run that is interrupted
 * leaves no tests behind, whose servers and programs end with them.
 */
import process from 'node:process'

const LOOK_EVERY_MS = 500

const starter = process.ppid
setInterval(() => {
  if (process.ppid !== starter) process.kill(process.pid, 'SIGKILL')
}, LOOK_EVERY_MS).unref()
