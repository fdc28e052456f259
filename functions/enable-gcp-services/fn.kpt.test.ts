import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const SET = `apiVersion: blueprints.cloud.google.com/v1alpha1
kind: ProjectServiceSet
metadata: # of the set
  name: shop
  namespace: projects
spec:
  services:
  - compute.googleapis.com
`

test('kpt runs it as a program and writes each service to its own file, with the comments of the set', {
  skip: whyNoKpt(),
}, () => {
  withFolder({ 'sub/set.yaml': SET }, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(ok, stderr)
    assert.equal(
      readFileSync(join(folder, 'sub', 'projects', 'service_shop-compute.yaml'), 'utf8'),
      `apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata: # of the set
  name: shop-compute
  namespace: projects
  annotations:
    blueprints.cloud.google.com/ownerReference: 'blueprints.cloud.google.com/ProjectServiceSet/shop'
spec:
  resourceID: compute.googleapis.com
`,
    )
  })
})

test('kpt fails on a set without services', { skip: whyNoKpt() }, () => {
  withFolder({ 'set.yaml': SET.replace('  - compute.googleapis.com\n', '') }, (folder) => {
    const { ok, stdout, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(!ok)
    assert.match(stdout + stderr, /at least one service must be specified/)
  })
})
