import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const FILES = {
  Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n',
  'service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: web # the front
spec:
  ports:
  - {port: 80, targetPort: http}
`,
}

test('kpt passes a package with valid objects, and leaves its files unchanged', {
  skip: whyNoKpt(),
}, () => {
  withFolder(FILES, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM, '--', 'strict=true')
    assert.ok(ok, stderr)
    for (const [path, text] of Object.entries(FILES))
      assert.equal(readFileSync(join(folder, path), 'utf8'), text)
  })
})

test('kpt fails on an invalid object, and the results name its location', {
  skip: whyNoKpt(),
}, () => {
  withFolder(
    { ...FILES, 'service.yaml': FILES['service.yaml'].replace('port: 80', "port: '80', prt: 1") },
    (folder) => {
      const { ok } = runKpt(
        folder,
        'fn',
        'eval',
        '.',
        '--exec',
        PROGRAM,
        '--results-dir',
        'out',
        '--',
        'strict=true',
      )
      assert.ok(!ok)
      const results = readFileSync(join(folder, 'out', 'results.yaml'), 'utf8')
      assert.match(results, /message: additional properties 'prt' not allowed\n +severity: error/)
      assert.match(results, /message: got string, want integer/)
      assert.match(results, /path: spec\.ports\.0\.port\n/)
      assert.match(results, /path: service\.yaml\n/)
      assert.match(results, /name: web\n/)
    },
  )
})
