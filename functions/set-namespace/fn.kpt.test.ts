import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const FILES = {
  'all.yaml': `# the shop
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: "old" # moves
spec:
  ports:
    - {port: 80}
---
apiVersion: v1
kind: Namespace
metadata: # its own
  name: old
`,
  'local.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: notes
  annotations:
    config.kubernetes.io/local-config: "true"
`,
}

test('kpt runs it as a program: only the namespaces differ, and the results count them', {
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
      '--results-dir',
      'out',
      '--',
      'namespace=prod',
    )
    assert.ok(ok, stderr)
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    assert.equal(
      read('all.yaml'),
      FILES['all.yaml'].replace('"old"', '"prod"').replace('name: old', 'name: prod'),
    )
    assert.equal(read('local.yaml'), FILES['local.yaml'])
    const results = read('out/results.yaml')
    assert.match(
      results,
      /message: namespace \[old\] updated to "prod", 2 value\(s\) changed\n +severity: info/,
    )
  })
})

test('kpt reports a config without a namespace, and stops', { skip: whyNoKpt() }, () => {
  withFolder(FILES, (folder) => {
    const { ok, stderr, stdout } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(!ok)
    assert.match(stdout + stderr, /\[error\].*`data\.namespace` should not be empty/)
    assert.equal(readFileSync(join(folder, 'all.yaml'), 'utf8'), FILES['all.yaml'])
  })
})
