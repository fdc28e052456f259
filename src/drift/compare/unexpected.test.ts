import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DeclaredIds,
  explainNotOfPackage,
  type InventoryExtent,
  isWithinFolder,
} from './unexpected.ts'

const id = (namespace: string, name: string, kind = 'ConfigMap') => ({
  group: '',
  kind,
  namespace,
  name,
})

test('matches a declared object by namespace, defaulting to that of the context', () => {
  const declared = new DeclaredIds([id('shop', 'a'), id('', 'b')], 'default')
  assert.equal(declared.has(id('shop', 'a'), false), true)
  assert.equal(declared.has(id('other', 'a'), true), false)
  assert.equal(declared.has(id('default', 'b'), false), true)
  assert.equal(declared.has(id('shop', 'b'), false), false)
  assert.equal(declared.has(id('shop', 'b'), true), true)
})

test('matches a cluster-scoped object regardless of the namespace in its file', () => {
  assert.equal(
    new DeclaredIds([id('shop', 'x', 'Node')], 'default').has(id('', 'x', 'Node'), false),
    true,
  )
})

const EXTENT: InventoryExtent = {
  source: 'Flux Kustomization flux-system/apps',
  reference: false,
  folder: undefined,
  transformed: undefined,
  isExtraneous: false,
  here: 4,
  elsewhere: 0,
  surplus: 1,
  coversPackage: true,
}
const why = (more: Partial<InventoryExtent>) =>
  explainNotOfPackage({ ...EXTENT, ...more }, 'apps/web')

test('an object in the inventory beyond git belongs to the package when the inventory does', () => {
  assert.equal(why({ reference: true, here: 0, coversPackage: false, elsewhere: 3 }), undefined)
  assert.equal(why({ folder: 'apps/web', coversPackage: false }), undefined)
  assert.equal(why({}), undefined)
  assert.equal(why({ surplus: 4 }), undefined)
  assert.equal(
    why({ folder: 'apps/web', transformed: 'namePrefix', isExtraneous: true }),
    undefined,
  )
})

test('does not attribute an object that may belong to another package or have another name in git', () => {
  assert.match(why({ folder: 'apps' }) ?? '', /applies apps, which is more than the package/)
  assert.match(why({ folder: '' }) ?? '', /applies the whole repository/)
  assert.match(
    why({ folder: 'apps/web', transformed: 'namePrefix' }) ?? '',
    /\(namePrefix\), so its objects may have other names/,
  )
  assert.match(why({ elsewhere: 1 }) ?? '', /objects of other packages too/)
  assert.match(why({ coversPackage: false }) ?? '', /does not have all objects/)
  assert.match(why({ surplus: 5 }) ?? '', /more objects that git lacks/)
  assert.match(why({ folder: 'apps/web', here: 0 }) ?? '', /lists no object of the package/)
})

test('only packages in the folder of an inventory may have contributed to it', () => {
  assert.deepEqual(
    ['apps/web', 'apps', 'application', 'infra'].map((path) => isWithinFolder(path, 'apps')),
    [true, true, false, false],
  )
  assert.equal(isWithinFolder('infra', ''), true)
  assert.equal(isWithinFolder('infra', undefined), true)
})
