import assert from 'node:assert/strict'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changeOf, recordOf, reportOf, WEB } from '../../../test/fakes/drift-package.ts'
import { runKpt, whyNoKpt, withFolder } from '../../../test/kpt/find-kpt.ts'
import { formatDocument } from '../../record/write-document.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('../../../functions/adopt-drift/run.ts', import.meta.url))}`
const SETTERS = `#!/bin/sh\nexec ${process.execPath} ${fileURLToPath(new URL('../../../functions/apply-setters/run.ts', import.meta.url))}\n`

const CHANGES = [
  changeOf('spec.replicas', { git: 3, live: 5 }),
  changeOf('spec.template.spec.containers[name=app].env[name=LEVEL].value', {
    git: 'info',
    live: 'debug',
  }),
  changeOf('data.size', {
    change: 'modified',
    git: '3',
    live: '4',
    ref: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'second' },
  }),
]

function read(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8')
}

function edited(path: string, ...edits: readonly (readonly [string, string])[]): string {
  return edits.reduce((text, [from, to]) => text.replace(from, to), WEB[path] ?? '')
}

test('kpt fn eval writes exactly the adopted values, and leaves every other byte unchanged', {
  skip: whyNoKpt(),
}, () => {
  const document = formatDocument(recordOf(CHANGES))
  withFolder({ ...WEB, 'drift.yaml': document }, (folder) => {
    const { ok, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--fn-config',
      'drift.yaml',
      '--results-dir',
      'out',
    )
    assert.ok(ok, stderr)
    const after = {
      ...WEB,
      'drift.yaml': document,
      'setters.yaml': edited('setters.yaml', ['"3"', '"5"']),
      'deployment.yaml': edited(
        'deployment.yaml',
        ['replicas: 3', 'replicas: 5'],
        ['value: info', 'value: debug'],
      ),
      'more.yaml': edited('more.yaml', ['"3"', '"4"']),
    }
    for (const [path, text] of Object.entries(after)) assert.equal(read(folder, path), text, path)
    assert.match(
      read(folder, 'out/results.yaml'),
      /message: 'adopted: git now matches the cluster'/,
    )
  })
})

test('kpt fn eval stops at a credential, and the results name the field and no value', {
  skip: whyNoKpt(),
}, () => {
  const hidden = changeOf('spec.template.spec.containers[name=app].env[name=DB_PASSWORD].value', {
    git: 'hmac-sha256:0011223344556677 (8 bytes)',
    live: 'hmac-sha256:8899aabbccddeeff (9 bytes)',
    redacted: true,
  })
  withFolder({ ...WEB, 'drift.yaml': formatDocument(recordOf([...CHANGES, hidden])) }, (folder) => {
    const { ok } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--fn-config',
      'drift.yaml',
      '--results-dir',
      'out',
    )
    assert.ok(!ok)
    for (const [path, text] of Object.entries(WEB)) assert.equal(read(folder, path), text, path)
    const results = read(folder, 'out/results.yaml')
    assert.match(results, /exitCode: 1/)
    assert.match(results, /severity: error/)
    assert.match(results, /name: web\n +namespace: shop/)
    assert.match(results, /DB_PASSWORD/)
    assert.doesNotMatch(results, /8899aabbccddeeff|0011223344556677|9 bytes/)
  })
})

test('kpt fn render with the function first in the pipeline settles after one render', {
  skip: whyNoKpt(),
}, () => {
  withFolder(
    { ...WEB, 'drift.yaml': formatDocument(reportOf(CHANGES)), '.bin/apply-setters': SETTERS },
    (folder) => {
      const setters = join(folder, '.bin/apply-setters')
      chmodSync(setters, 0o755)
      const kptfile = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
  - exec: ${PROGRAM}
    configPath: drift.yaml
  - exec: ${setters}
    configPath: setters.yaml
`
      writeFileSync(join(folder, 'Kptfile'), kptfile)
      const { ok, stderr } = runKpt(folder, 'fn', 'render', '.', '--allow-exec')
      assert.ok(ok, stderr)
      assert.equal(read(folder, 'Kptfile'), kptfile)
      assert.equal(read(folder, 'setters.yaml'), edited('setters.yaml', ['"3"', '"5"']))
      assert.equal(
        read(folder, 'deployment.yaml'),
        edited('deployment.yaml', ['replicas: 3', 'replicas: 5'], ['value: info', 'value: debug']),
      )
    },
  )
})
