import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
    app: 'old' # replaced
spec:
  selector: {app: old}
`

test('kpt runs it as a program: labels and selectors differ, and comments stay', {
  skip: whyNoKpt(),
}, () => {
  withFolder({ 'web.yaml': SERVICE }, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM, '--', 'app=web')
    assert.ok(ok, stderr)
    assert.equal(
      readFileSync(join(folder, 'web.yaml'), 'utf8'),
      SERVICE.replace("'old' # replaced", 'web # replaced')
        .replace('{app: old}', '\n    app: web')
        .replace('selector: ', 'selector:'),
    )
  })
})

test('kpt fails without labels', { skip: whyNoKpt() }, () => {
  withFolder({ 'web.yaml': SERVICE }, (folder) => {
    const { ok, stdout, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(!ok)
    assert.match(stdout + stderr, /input label list cannot be empty/)
    assert.equal(readFileSync(join(folder, 'web.yaml'), 'utf8'), SERVICE)
  })
})
