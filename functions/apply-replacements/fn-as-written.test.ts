import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PORTS, runWith, WEB } from '../../test/fakes/replaced-objects.ts'
import { applyReplacementsAsWritten } from './fn.ts'

const CONTAINERS = 'spec.template.spec.containers'

const AS_WRITTEN: readonly (readonly [
  name: string,
  source: string,
  target: string,
  lines: readonly string[],
])[] = [
  [
    'skips a missing field',
    '{kind: ConfigMap}',
    '{select: {name: web}, fieldPaths: [spec.x, spec.x.y, spec.none.z]}',
    [],
  ],
  [
    'the value keeps the quotes and the comment of its source',
    '{kind: ConfigMap, fieldPath: data.image}',
    "{select: {name: web}, fieldPaths: ['spec.template.spec.containers.[name=web].image', spec.replicas]}",
    ['  replicas: ghcr.io/shop/web:1.2 # pinned', '        image: ghcr.io/shop/web:1.2 # pinned'],
  ],
  [
    'a part of a number keeps its type',
    "{kind: ConfigMap, fieldPath: data.plain, options: {delimiter: '0'}}",
    '{select: {name: web}, fieldPaths: [metadata.labels.app], options: {delimiter: /, index: 1}}',
    ['    app: !!int web/9'],
  ],
  [
    'an index does not create a list',
    '{kind: ConfigMap}',
    "{select: {name: web}, options: {create: true}, fieldPaths: ['spec.l.[name=x].y', 'spec.template.spec.containers.9']}",
    ['  l:', '  - name: x', '    y: ports'],
  ],
]

for (const [name, source, target, lines] of AS_WRITTEN) {
  test(`v0.1.1: ${name}`, () => {
    const { texts, message } = runWith(
      applyReplacementsAsWritten,
      `[{source: ${source}, targets: [${target}]}]`,
      [PORTS, WEB],
    )
    assert.equal(message, undefined)
    const before = new Set(WEB.split('\n'))
    assert.deepEqual(
      (texts[1] ?? '').split('\n').filter((line) => !before.has(line)),
      lines,
    )
  })
}

test('v0.1.1 rejects `*`, the path of the whole object, and an alias whose anchor it would overwrite', () => {
  const messageOf = (path: string, text: string): string | undefined =>
    runWith(
      applyReplacementsAsWritten,
      `[{source: {kind: ConfigMap}, targets: [{select: {name: web}, fieldPaths: ['${path}']}]}]`,
      [PORTS, text],
    ).message
  assert.match(
    String(messageOf(`${CONTAINERS}.*.image`, WEB)),
    /expected MappingNode but got SequenceNode/,
  )
  assert.match(String(messageOf('', WEB)), /that of the whole object/)
  const anchored = `${WEB}other:\n  one: &a 1\n  two: *a\n`
  assert.equal(messageOf('other.one', anchored), "unknown anchor 'a' referenced")
  assert.equal(messageOf('other.two', anchored), undefined)
})
