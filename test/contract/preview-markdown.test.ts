/** Whatever a head, a cluster or the name of a branch says: a preview says it and does nothing with it, within the limit of the forge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewText } from '../../src/proposal/preview/preview-text.ts'
import { type Preview, previewSchema } from '../../src/record/documents/preview.ts'
import { GITEA, GITHUB, PLAIN } from '../fakes/dialects.ts'
import { HOSTILE_TEXTS } from '../fakes/record-samples.ts'
import { HOSTILE } from '../golden/proposals/samples.ts'
import { actsOfMarkdown } from '../markdown/read-markdown.ts'
import * as fc from '../seeds/fast-check.ts'

const GIVEN = ['https://github.example/acme/deploy/', 'https://gitea.example/acme/deploy/']
const PIECES = [
  '`',
  '```',
  '|',
  '\\',
  '\n',
  '\r',
  '<b>',
  '-->',
  '@a',
  '#1',
  '](',
  '![',
  '*',
  'https://e.example',
  '- [x] ',
  '/approve',
  '\u202e',
]
const word = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...HOSTILE, ...HOSTILE_TEXTS.filter((text) => text.length < 1_000)),
  },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { maxLength: 14 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
)
const words = fc.array(word, { maxLength: 4 })
const value = fc.oneof(
  word,
  fc.integer(),
  fc.constant(undefined),
  fc.dictionary(word, word, { maxKeys: 3 }),
  words,
)
const live = fc.constantFrom('before', 'after', 'other', 'unknown')
const failure = fc.record({
  at: fc.constantFrom('base', 'merge', 'live'),
  code: word,
  what: word,
  where: word,
  why: word,
  remedy: word,
})
const change = fc
  .record({
    ref: fc.record({ group: word, kind: word, namespace: word, name: word }),
    change: fc.constantFrom('added', 'removed', 'modified'),
    path: fc.oneof(word, fc.constant(undefined)),
    before: value,
    after: value,
    redacted: fc.boolean(),
    risk: fc.constantFrom('critical', 'high', 'medium', 'low'),
    reason: fc.oneof(word, fc.constant('APP-IMAGE')),
    source: fc.oneof(
      word,
      word.map((text) => `${text}:12`),
    ),
    live,
    liveValue: value,
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)))
const unit = fc.record({
  ...{
    package: word,
    cluster: word,
    appliedBy: word,
    state: fc.constantFrom('changes', 'same', 'failed'),
  },
  ...{ presence: fc.constantFrom('both', 'new', 'gone'), edited: words, shared: words },
  ...{
    changes: fc.array(change, { minLength: 1, maxLength: 6 }),
    failures: fc.array(failure, { maxLength: 2 }),
  },
})

function previewWith(items: fc.Arbitrary<unknown[]>): fc.Arbitrary<Preview> {
  return fc
    .record({
      base: fc.record({ branch: word, commit: fc.constant('b'.repeat(40)) }),
      head: fc.record({ name: word, commit: fc.constant('a'.repeat(40)), fork: fc.boolean() }),
      merge: fc.record({ conflicts: words, why: word }),
      ...{ edited: words, policies: fc.boolean(), untouched: fc.nat(), notes: words, items },
      clusters: fc.array(fc.record({ name: word, failure }), { maxLength: 3 }),
      elsewhere: fc.array(fc.record({ name: word, files: words }), { maxLength: 9 }),
    })
    .map((all) =>
      previewSchema.parse({ apiVersion: 'backporch.dev/v1alpha1', kind: 'Preview', ...all }),
    )
}

for (const dialect of [GITHUB, GITEA, PLAIN]) {
  test(`a preview is inert and fits the limit on ${dialect.name}`, () => {
    fc.assert(
      fc.property(previewWith(fc.array(unit, { maxLength: 5 })), (preview) => {
        const text = previewText(preview, { dialect, version: '1' })
        assert.deepEqual(actsOfMarkdown(text, GIVEN), [])
        assert.ok(text.length <= dialect.bodyLimit, `${text.length}`)
      }),
      { numRuns: 150 },
    )
  })

  test(`a preview of thousands of changes fits on ${dialect.name}, and says what it omits`, () => {
    const [sample] = fc.sample(previewWith(fc.array(unit, { minLength: 1, maxLength: 1 })), {
      numRuns: 1,
      seed: 7,
    })
    if (sample === undefined) throw new TypeError('no sample')
    const [one] = sample.items
    const items = Array.from({ length: 400 }, (_, at) => ({
      ...(one as Preview['items'][number]),
      ...{ package: `apps/${at}`, state: 'changes' as const },
      changes: Array.from({ length: 60 }, () => (one as Preview['items'][number]).changes).flat(),
    }))
    const text = previewText({ ...sample, items }, { dialect, version: '1' })
    assert.ok(text.length <= dialect.bodyLimit, `${text.length}`)
    assert.match(text, /more units?\b|too long for a comment/)
    assert.deepEqual(actsOfMarkdown(text, GIVEN), [])
  })
}
