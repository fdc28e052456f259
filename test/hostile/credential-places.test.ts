/** A name that says credential hides its value in whatever form the two stand; a name that only sounds like one hides nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainSecret, isHiddenOfSecret, isLikelySecret } from '@backporch/kyaml/redaction'
import { path } from '../fakes/live-object.ts'
import { seedsOf } from '../seeds/seeds.ts'
import { Draw } from './credential-forms.ts'
import { HARMLESS, placesOf, SHAPES } from './credential-places.ts'
import { MORE_PLACES, NEARLY } from './more-places.ts'
import { NAME_FORMS, TELLING_NAMES } from './name-forms.ts'

test('has 194 places and 60 harmless values', () => {
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
          return !(group === 'Secret'
            ? isHiddenOfSecret(path(location), value)
            : isLikelySecret(path(location), value))
        })
        assert.deepEqual(shown, [])
      })
  }

for (const { seed } of seedsOf(import.meta.filename))
  for (const [index, [location, make]] of MORE_PLACES.entries())
    test(`more: ${index} ${location.replace('spec.template.spec.containers[name=app]', '…')}`, () => {
      const draw = new Draw(`more ${seed} ${index}`)
      const shown = Object.values(SHAPES).flatMap((shape) =>
        Array.from({ length: 10 }, () => make(shape(draw), draw)).filter(
          (value) => !isLikelySecret(path(location), value),
        ),
      )
      assert.deepEqual(shown, [])
    })

for (const { seed } of seedsOf(import.meta.filename))
  for (const [form, make] of Object.entries(NAME_FORMS))
    test(`hides a telling name with its value as ${form}`, () => {
      const draw = new Draw(`${form} ${seed}`)
      const shown = TELLING_NAMES.flatMap((name) =>
        Object.entries(SHAPES).flatMap(([shape, drawn]) => {
          const [location, value] = make(name, drawn(draw))
          return isLikelySecret(path(location), value) ? [] : [`${name} ${shape}`]
        }),
      )
      assert.deepEqual(shown, [])
    })

test('treats a number as a credential under a telling name, whatever the name begins with', () => {
  for (const name of [
    'MINIO_ROOT_PASSWORD',
    'MAX_PASSWORD',
    'counter_token',
    'MAXMIND_LICENSE_KEY',
    'minSecret',
    'accountToken',
  ])
    assert.equal(isLikelySecret(path(`data.${name}`), '12345678'), true, name)
})

test('the reason for hiding contains no hidden text and no name that is a credential', () => {
  const token = `ghp_${new Draw('why').text(36)}`
  const whys = [
    explainSecret(path('data.color'), 'hunter2password: x4711\n'),
    explainSecret(path('spec.list'), [{ value: 'x4711', name: `${token}-password` }]),
  ]
  assert.ok(
    whys.every((why) => why !== undefined && !/hunter2|ghp_/.test(why)),
    whys.join('; '),
  )
})

for (const [location, value] of [...HARMLESS, ...NEARLY])
  test(`shown: ${location.replace('spec.template.spec.containers[name=app]', '…')} ${JSON.stringify(value).slice(0, 60)}`, () =>
    assert.equal(isLikelySecret(path(location), value), false))
