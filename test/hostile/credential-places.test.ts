/** A name that says credential hides its value in whatever form the two stand; a name that only sounds like one hides nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looksSecret } from '../../src/krm/redaction/looks-secret.ts'
import { isHiddenOfSecret } from '../../src/krm/redaction/redacted.ts'
import { path } from '../fakes/live-object.ts'
import { seedsOf } from '../seeds/seeds.ts'
import { Draw } from './credential-forms.ts'
import { HARMLESS, placesOf, SHAPES } from './credential-places.ts'

test('there are 194 places and 60 harmless values', () => {
  assert.deepEqual([placesOf('x').length, HARMLESS.length], [194, 60])
})

for (const { seed } of seedsOf(import.meta.filename))
  for (const [shape, make] of Object.entries(SHAPES)) {
    const draw = new Draw(`${shape} ${seed}`)
    const values = Array.from({ length: 20 }, () => make(draw))
    for (const [index, { group, location }] of placesOf('x').entries())
      test(`${shape}: ${index} ${group} ${location.replace('spec.template.spec.containers[name=app]', '…')}`, () => {
        const shown = values.filter((x) => {
          const value = placesOf(x)[index]?.value
          return !(group === 'Secret' ? isHiddenOfSecret(path(location), value) : looksSecret(path(location), value))
        })
        assert.deepEqual(shown, [])
      })
  }

for (const [location, value] of HARMLESS)
  test(`shown: ${location.replace('spec.template.spec.containers[name=app]', '…')} ${JSON.stringify(value).slice(0, 60)}`, () =>
    assert.equal(looksSecret(path(location), value), false))
