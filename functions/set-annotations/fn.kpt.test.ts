import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const FILES = {
  'web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # one
  annotations:
    team: 'old' # two
spec:
  template:
    metadata: {}
`,
  'notes.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\n',
}

test('kpt runs it as a program: the annotations differ, and there are no results', {
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
      'team=shop',
    )
    assert.ok(ok, stderr)
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    assert.equal(
      read('web.yaml'),
      FILES['web.yaml'].replace("'old'", "'shop'").replace('{}', "{annotations: {team: 'shop'}}"),
    )
    assert.equal(read('notes.yaml'), `${FILES['notes.yaml']}  annotations:\n    team: shop\n`)
    assert.doesNotMatch(read('out/results.yaml'), /results:/)
  })
})
