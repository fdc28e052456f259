import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const service = (name: string, more: string) =>
  `apiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\n${more}`
const OTHER = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other # stays\n'

test('kpt runs it as a program: a resource is replaced in its file, or added to a new one', {
  skip: whyNoKpt(),
}, () => {
  const resource = service('web', 'spec:\n  type: NodePort # new\n')
  const files = {
    'package/all.yaml': `${OTHER}---\n${service('web', 'spec: {}\n')}`,
    'web.yaml': resource,
    'shop.yaml': service(
      'shop',
      '  annotations:\n    config.kubernetes.io/target-path: new/shop.yaml\nspec: {}\n',
    ),
  }
  withFolder(files, (folder) => {
    for (const config of ['web.yaml', 'shop.yaml']) {
      const { ok, stderr } = runKpt(
        folder,
        'fn',
        'eval',
        'package',
        '--exec',
        PROGRAM,
        '--fn-config',
        config,
      )
      assert.ok(ok, stderr)
    }
    assert.equal(
      readFileSync(join(folder, 'package', 'all.yaml'), 'utf8'),
      `${OTHER}---\n${resource}`,
    )
    assert.equal(
      readFileSync(join(folder, 'package', 'new', 'shop.yaml'), 'utf8'),
      service('shop', 'spec: {}\n'),
    )
  })
})
