import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const FILES = {
  'web.yaml': `apiVersion: v1
kind: Pod
metadata:
  annotations: # first
    z: a
    b: c # second
  name: web
spec:
  volumes:
    - configMap:
        name: conf # third
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
`,
}

test('kpt runs it as a program: names and references change, and files and comments keep their places', {
  skip: whyNoKpt(),
}, () => {
  withFolder(FILES, (folder) => {
    const { ok, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--',
      'append=-prod',
    )
    assert.ok(ok, stderr)
    assert.equal(
      readFileSync(join(folder, 'web.yaml'), 'utf8'),
      FILES['web.yaml']
        .replace('name: web', 'name: web-prod')
        .replaceAll('name: conf', 'name: conf-prod'),
    )
  })
})

test('kpt fails without a text to add', { skip: whyNoKpt() }, () => {
  withFolder(FILES, (folder) => {
    const { ok, stdout, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(!ok)
    assert.match(stdout + stderr, /only 1 entry is allowed in the ConfigMap, but got: 0/)
  })
})
