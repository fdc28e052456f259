/** Every command of the first five minutes: a package of kpt that a pipeline applies with kubectl. */
import { test } from 'node:test'
import { webPackage } from '../e2e/packages.ts'
import { ownPlane } from '../e2e/watched-world.ts'
import { follow, openGuideWorld } from './guide-world.ts'

test('the first five minutes', async (t) => {
  const plane = await ownPlane(t)
  const own = await openGuideWorld(t, plane, webPackage('shop'))
  const { world } = own
  await world.kubectl('create', 'namespace', 'shop')
  const apply = (): Promise<void> => world.sync('apps/web')
  await apply()
  await follow('docs/guides/first-five-minutes.md', own, {
    after: { 'git push --quiet origin main': apply },
  })
})
