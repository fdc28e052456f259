import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changeOf, recordOf } from '../../../test/fakes/drift-package.ts'
import { runKpt, whyNoKpt, withFolder } from '../../../test/kpt/find-kpt.ts'
import { formatDocument, INERT_LINE } from '../../record/write-document.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('../../../functions/verify-drift-records/run.ts', import.meta.url))}`
const RECORD = recordOf([changeOf('spec.replicas', { git: 3, live: 5 })])
/** As in a copy, without the last document of a record. */
const formatMarked = (document: object): string => `${INERT_LINE}\n${formatDocument(document)}`
const PATH = '.drift/records/prod-eu-1/apps--web/20261121-9f2c1a7b.yaml'

test('kpt accepts a repository with valid records, and leaves their bytes unchanged', {
  skip: whyNoKpt(),
}, () => {
  const files = {
    [PATH]: formatMarked(RECORD),
    'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  }
  withFolder(files, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM, '--', 'drafts=fail')
    assert.ok(ok, stderr)
    for (const [path, text] of Object.entries(files))
      assert.equal(readFileSync(join(folder, path), 'utf8'), text)
  })
})

test('kpt stops at invalid records, and the results name their locations', {
  skip: whyNoKpt(),
}, () => {
  const files = {
    [PATH]: formatDocument(RECORD),
    '.drift/records/prod-eu-1/apps--web/20261121-00000000.yaml': formatMarked({
      ...RECORD,
      spec: { ...RECORD.spec, plan: 'Restore' },
    }),
  }
  withFolder(files, (folder) => {
    const { ok } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM, '--results-dir', 'out')
    assert.ok(!ok)
    const results = readFileSync(join(folder, 'out', 'results.yaml'), 'utf8')
    assert.match(results, /^exitCode: 1$/m)
    assert.match(results, /is not directly above it/)
    assert.match(results, new RegExp(`message: the file of this record is ${PATH}`))
    assert.match(
      results,
      /message: the resolutions of the changes make it Adopt\n(?: +.*\n)*? +path: spec\.plan\n/,
    )
    assert.match(results, /path: \.drift\/records\/prod-eu-1\/apps--web\/20261121-00000000\.yaml/)
    assert.match(results, /name: drift-9f2c1a7b/)
  })
})
