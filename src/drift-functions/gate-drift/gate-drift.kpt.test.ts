import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changeOf, reportOf } from '../../../test/fakes/drift-package.ts'
import { runKpt, whyNoKpt, withFolder } from '../../../test/kpt/find-kpt.ts'
import { formatDocument } from '../../record/write-document.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('../../../functions/gate-drift/run.ts', import.meta.url))}`

function kptfile(status: string, reason: string): string {
  return `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  validators:
  - exec: ${PROGRAM}
    configMap:
      minimumRisk: medium
      report: drift.yaml
status:
  conditions:
  - type: Drifted
    status: "${status}"
    reason: ${reason}
    message: drift-9f2c1a7b
`
}

const CHANGE = changeOf('spec.replicas', { git: 'was-telling', live: 'is-telling' })

test('kpt fn render stops at a package with open drift, and its results name the change', {
  skip: whyNoKpt(),
}, () => {
  const files = {
    Kptfile: kptfile('True', 'DriftDetected'),
    'drift.yaml': formatDocument(reportOf([CHANGE], { episode: '9f2c1a7b', lifecycle: 'Draft' })),
  }
  withFolder(files, (folder) => {
    const { ok } = runKpt(folder, 'fn', 'render', '.', '--allow-exec', '--results-dir', 'out')
    assert.ok(!ok)
    const results = readFileSync(join(folder, 'out', 'results.yaml'), 'utf8')
    assert.match(results, /^exitCode: 1$/m)
    assert.match(
      results,
      /message: 'unreviewed drift: modified by kubectl-edit at .*risk medium \(AVAIL-REPLICAS\)'/,
    )
    assert.match(results, /path: spec\.replicas\n/)
    assert.match(results, /review drafts\/apps\/web\/drift-9f2c1a7b/)
    assert.doesNotMatch(results, /telling/)
    for (const [path, text] of Object.entries(files))
      assert.equal(readFileSync(join(folder, path), 'utf8'), text)
  })
})

test('kpt fn render passes a package whose drift was decided', { skip: whyNoKpt() }, () => {
  const files = {
    Kptfile: kptfile('False', 'Adopted'),
    'drift.yaml': formatDocument(reportOf([], { state: 'InSync' })),
  }
  withFolder(files, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'render', '.', '--allow-exec')
    assert.ok(ok, stderr)
  })
})
