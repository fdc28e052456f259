import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const HIERARCHY = `apiVersion: blueprints.cloud.google.com/v1alpha3
kind: ResourceHierarchy
metadata: # of the hierarchy
  name: shop
  namespace: hierarchy
spec:
  parentRef:
    external: "12"
  config:
  - Dev:
    - Shop
`

test('kpt runs it as a program and writes each folder to its own file', {
  skip: whyNoKpt(),
}, () => {
  withFolder({ 'hierarchy.yaml': HIERARCHY }, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(ok, stderr)
    assert.equal(
      readFileSync(join(folder, 'hierarchy.yaml'), 'utf8'),
      HIERARCHY.replace('"12"', "'12'"),
    )
    assert.equal(
      readFileSync(join(folder, 'hierarchy', 'folder_dev.shop.yaml'), 'utf8'),
      `apiVersion: resourcemanager.cnrm.cloud.google.com/v1beta1
kind: Folder
metadata:
  name: dev.shop
  namespace: hierarchy
spec:
  displayName: Shop
  folderRef:
    name: dev
`,
    )
  })
})

test('kpt fails on a hierarchy without a parent', { skip: whyNoKpt() }, () => {
  withFolder({ 'hierarchy.yaml': HIERARCHY.replace('external', 'other') }, (folder) => {
    const { ok, stdout, stderr } = runKpt(folder, 'fn', 'eval', '.', '--exec', PROGRAM)
    assert.ok(!ok)
    assert.match(stdout + stderr, /the hierarchy has no parentRef/)
  })
})
