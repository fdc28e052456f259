#!/usr/bin/env node
/* Starts backporch. Plain old syntax, so that any Node since 12 can read it and say in one line what it needs. */
'use strict'
var path = require('path')
var fs = require('fs')
var url = require('url')
var parts = process.versions.node.split('.').map(Number)
var enough = parts[0] > 22 || (parts[0] === 22 && parts[1] >= 19)
var source = path.join(__dirname, 'main.ts')
var checkout = fs.existsSync(source)
var local = path.join(__dirname, '..', 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node')
if (!enough && checkout && fs.existsSync(local)) {
  // A checkout brings its own Node (docs/adr/0002), whatever the machine has.
  var child = require('child_process').spawn(local, [source].concat(process.argv.slice(2)), { stdio: 'inherit' })
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((name) => {
    process.on(name, () => {
      // A terminal sends Ctrl-C to the child too, and to be told twice means to stop at once.
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name)
    })
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + (require('os').constants.signals[signal] || 0) : code
  })
} else if (!enough) {
  process.stderr.write('error BP1001: backporch needs Node 22.19 or later, and this is Node ' + process.versions.node + '\n')
  process.exitCode = 2
} else {
  // The demo leaves nothing behind.
  if (process.argv[2] !== 'demo') keepCompiled()
  var file = checkout ? source : path.join(__dirname, '..', 'dist', 'backporch.mjs')
  import(url.pathToFileURL(file).href).catch((error) => {
    process.stderr.write('error BP9001: backporch does not start: ' + (error && error.message) + '\n')
    process.exitCode = 2
  })
}

/** A sixth of a `diff` is compilation: Node keeps what it compiled, in a folder that only this user writes to. */
function keepCompiled() {
  var home = process.env.HOME || require('os').homedir()
  var caches = process.env.XDG_CACHE_HOME || (home ? path.join(home, '.cache') : '')
  // NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are Node's own switches.
  if (!path.isAbsolute(caches) || process.env.NODE_COMPILE_CACHE) return
  var folder = path.join(caches, 'backporch', 'compiled')
  try {
    // Step by step: where a folder cannot be made, as in /proc, Node would try to make its parents without end.
    ;[caches, path.dirname(folder), folder].forEach((each) => {
      if (!fs.existsSync(each)) fs.mkdirSync(each, 448)
    })
  } catch (_error) {
    return
  }
  require('module').enableCompileCache(folder)
}
