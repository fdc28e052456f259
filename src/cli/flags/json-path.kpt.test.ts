import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { MISMATCHED, PRINTED, REFUSED, TEXT } from '../../../test/golden/json-path.ts'

/** `--local` sends nothing to a server; the label is in the object already, so that the object stays as it is. */
function kubectl(template: string) {
  const args = [
    'label',
    '--local',
    '--overwrite',
    '-f',
    '-',
    'row=row',
    '-o',
    `jsonpath=${template}`,
  ]
  return spawnSync('kubectl', args, {
    input: TEXT,
    encoding: 'utf8',
    env: { ...process.env, KUBECONFIG: '/nonexistent' },
  })
}

const skip =
  spawnSync('kubectl', ['version', '--client']).status === 0 ? false : 'kubectl is not on the PATH'

test('the table says what the real kubectl prints', { skip }, () => {
  for (const [template, text] of PRINTED) {
    const { stdout, stderr } = kubectl(template)
    assert.equal(stdout, text, `${template}: ${stderr}`)
  }
})

test('the real kubectl refuses what is refused here', { skip }, () => {
  for (const template of [...REFUSED, ...MISMATCHED]) {
    const { status, stdout } = kubectl(template)
    assert.ok(status !== 0, `${template} gave ${stdout}`)
  }
})

test('the real kubectl loses what stands behind an empty list, which is why we differ', {
  skip,
}, () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', labels: { row: 'row' } },
    spec: [{ c: ['a'] }, { c: [] }, { c: ['b'] }],
  }
  const args = [
    'label',
    '--local',
    '--overwrite',
    '-f',
    '-',
    'row=row',
    '-o',
    'jsonpath={.spec[*].c[*]}',
  ]
  assert.equal(
    spawnSync('kubectl', args, { input: JSON.stringify(object), encoding: 'utf8' }).stdout,
    'a',
  )
})
