/** Whatever somebody wrote into a cluster, a repository or a comment: a text of ours says it and does nothing with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMassText } from '../../src/proposal/text/mass-text.ts'
import { formatOnboardingText } from '../../src/proposal/text/onboarding-text.ts'
import { createOutcomeComment } from '../../src/proposal/text/outcome-comment.ts'
import type { ProposalState, ProposalSubject } from '../../src/proposal/text/proposal-subject.ts'
import { formatProposalText } from '../../src/proposal/text/proposal-text.ts'
import { reportText } from '../../src/proposal/text/report-text.ts'
import { formatStormText } from '../../src/proposal/text/storm-text.ts'
import { readTicks } from '../../src/proposal/text/ticks.ts'
import type { Change } from '../../src/record/documents/change.ts'
import { GITEA, GITHUB, PLAIN } from '../fakes/dialects.ts'
import { changeOf, HOSTILE_TEXTS } from '../fakes/record-samples.ts'
import { ONBOARDING } from '../golden/proposals/onboarding-samples.ts'
import { HOSTILE, MASS, STORM, subjectOf } from '../golden/proposals/samples.ts'
import { actsOfMarkdown, readWithMicromark } from '../markdown/read-markdown.ts'
import * as fc from '../seeds/fast-check.ts'

const PIECES = [
  '`',
  '``',
  '```',
  '~~~',
  '\\',
  '|',
  '\n',
  '\r',
  ' ',
  '<',
  '>',
  '</code>',
  '-->',
  '<!--',
  '@a',
  '#1',
  '](',
  '[x]',
  '![',
  '*',
  '_',
  'a',
  '\u202e',
  '$',
  '&lt;',
  'https://e.example',
  '- [x] ',
  '/approve',
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
const value = fc.oneof(
  word,
  fc.integer(),
  fc.constant(undefined),
  fc.constant(null),
  fc.dictionary(word, word, { maxKeys: 3 }),
  fc.array(word, { maxLength: 3 }),
)
const ref = fc.record({ group: word, kind: word, namespace: word, name: word })

const change: fc.Arbitrary<Change> = fc
  .record({
    ref,
    change: fc.constantFrom('modified', 'removed', 'added', 'missing', 'unexpected'),
    path: word,
    git: value,
    live: value,
    manager: word,
    at: word,
    class: fc.constantFrom('human-tool', 'controller', 'gitops', 'webhook', 'unknown'),
    confidence: fc.constantFrom('field-manager', 'last-writer', 'none'),
    risk: fc.constantFrom('critical', 'high', 'medium', 'low'),
    reason: fc.oneof(word, fc.constant('APP-IMAGE')),
    resolution: fc.constantFrom('Restore', 'Adopt', 'Release'),
    redacted: fc.boolean(),
    source: fc.oneof(
      word,
      word.map((text) => `${text}:3`),
    ),
    notes: fc.array(word, { maxLength: 2 }),
  })
  .map(({ manager, at, class: kind, confidence, ...more }) => {
    const whole = more.change === 'missing' || more.change === 'unexpected'
    return changeOf({
      ...more,
      ...(whole ? { path: undefined, git: undefined, live: undefined } : {}),
      actor: { manager, operation: 'Update', class: kind, at, confidence },
    })
  })

const state: fc.Arbitrary<ProposalState> = fc.oneof(
  fc.constantFrom(
    { kind: 'changing' } as const,
    { kind: 'storm' } as const,
    { kind: 'edited' } as const,
  ),
  word.map((why) => ({ kind: 'render-failed', why }) as const),
  word.map((since) => ({ kind: 'not-observed', since }) as const),
  word.map((until) => ({ kind: 'snoozed', until }) as const),
  fc
    .tuple(
      fc.constantFrom('not-checked', 'refused'),
      fc.array(word, { minLength: 1, maxLength: 2 }),
      word,
    )
    .map(([kind, objects, why]) => ({ kind, objects, why }) as const),
)

const text = fc.array(
  fc.oneof(
    word,
    word.map((name) => ({ name })),
  ),
  { maxLength: 5 },
)

const subject: fc.Arbitrary<ProposalSubject> = fc
  .record({
    changes: fc.oneof(
      { weight: 4, arbitrary: fc.array(change, { minLength: 1, maxLength: 8 }) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(change, fc.integer({ min: 20, max: 260 }))
          .map(([one, many]) => manyOf(one, many)),
      },
    ),
    word,
    words: fc.array(word, { minLength: 8, maxLength: 8 }),
    states: fc.array(state, { maxLength: 2 }),
    sentence: text,
    warning: text,
    restores: fc.constantFrom('at-once', 'at-interval', 'when-told', 'never', 'unknown'),
    revertsUnasked: fc.constantFrom('yes', 'no', 'unknown'),
    settle: fc.constantFrom('syncer', 'backporch'),
    limit: fc.constantFrom(2_500, 4_000, 10_000, 58_000),
    dialect: fc.constantFrom(GITHUB, GITEA, PLAIN),
    hasReport: fc.boolean(),
  })
  .map(
    ({
      changes,
      word: any,
      words,
      states,
      sentence,
      warning,
      restores,
      revertsUnasked,
      settle,
      limit,
      dialect,
      hasReport,
    }) => {
      const [
        cluster = '',
        name = '',
        policy = '',
        version = '',
        login = '',
        message = '',
        location = '',
        command = '',
      ] = words
      const base = subjectOf(changes)
      return {
        ...base,
        unit: { cluster, packageName: name, packagePath: name, slug: 'slug' },
        record: {
          ...base.record,
          spec: {
            ...base.record.spec,
            message,
            settle,
            began: any,
            unit: { ...base.record.spec.unit, cluster, package: name },
          },
        },
        dialect: { ...dialect, bodyLimit: limit },
        hasReport,
        states,
        applier: {
          name: any,
          restores,
          sentence: any,
          command: `kubectl apply -f ${command}`,
          warning: any,
          revertsUnasked,
          phrases: { sentence, warning },
        },
        policy: { name: policy, mode: any, location },
        version,
        headBranch: any,
        ledgerUrl: any,
        alsoIn: [any, cluster],
        previousPlan: { plan: 'Adopt', by: login },
        notAdoptable: new Map([[changes[0]?.fingerprint ?? '', any]]),
        notReleasable: new Map([[changes[0]?.fingerprint ?? '', any]]),
        reapplyFails: [{ ref: { group: any, kind: any, namespace: any, name: any }, why: any }],
        health: [
          {
            id: { group: any, kind: any, namespace: any, name: any },
            status: 'Failed',
            drift: 'drifted',
            message: any,
            health: any,
          },
        ],
      }
    },
  )

function manyOf(one: Change, many: number): readonly Change[] {
  return Array.from({ length: many }, (_each, index) => ({
    ...one,
    ref: { ...one.ref, name: `${one.ref.name}${index}` },
  }))
}

const URLS = ['https://github.example/acme/deploy/', 'https://gitea.example/acme/deploy/']
/** Addresses that a forge gave us are linked as they are; these here begin with one of somebody's. */
const GIVEN = [...URLS, 'https://e', 'https://github.com/org/x/issues/1']

test('a pull request of any content is inert, fits the limit, and ends with our marker', () => {
  fc.assert(
    fc.property(subject, (created) => {
      const { title, body, labels } = formatProposalText(created)
      assert.ok(
        body.length <= created.dialect.bodyLimit,
        `${body.length} of ${created.dialect.bodyLimit}`,
      )
      assert.ok(
        Array.from(title).length <= 100 && !/[\n\r]|(^|[^\w.])@\w|[#!]\d/.test(title),
        title,
      )
      for (const label of labels) assert.match(label, /^drift(-[a-z]+\/[a-z-]+)?$/)
      assert.deepEqual(actsOfMarkdown(body, GIVEN), [])
      assert.deepEqual(readTicks(body), [])
      assert.deepEqual(
        readTicks(body.replaceAll('- [ ] <!--', '- [x] <!--')).length > 0,
        body.includes('- [ ] <!--'),
      )
      assert.match(body, /\n<!-- backporch:v1 [^\n]+ -->\n$/)
      assert.ok(readWithMicromark(body).html.some((html) => html.includes('backporch:v1')))
      assert.deepEqual(
        formatProposalText({ ...created, record: structuredClone(created.record) }).body,
        body,
      )
    }),
    { numRuns: 150 },
  )
})

test('a report of any content is inert', () => {
  fc.assert(
    fc.property(subject, ({ record }) => {
      assert.deepEqual(actsOfMarkdown(reportText(record), []), [])
    }),
    { numRuns: 50 },
  )
})

test('a joint proposal, a storm report and a comment of any content are inert and fit the limits', () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      subject,
      word,
      (changes, created, text) => {
        const mass = formatMassText({
          ...MASS,
          ...created,
          changes,
          packageName: text,
          rows: MASS.rows.map((row, index) =>
            index < 3 ? { ...row, cluster: text, since: text } : row,
          ),
          appliers: [{ applier: created.applier, clusters: 3 }, ...MASS.appliers],
        })
        assert.ok(mass.body.length <= created.dialect.bodyLimit)
        assert.deepEqual(actsOfMarkdown(mass.body, GIVEN), [])
        assert.deepEqual(readTicks(mass.body), [])
        const worst = STORM.worst.map((unit) => ({
          ...unit,
          packageName: text,
          cluster: text,
          url: text,
        }))
        const storm = formatStormText({
          ...STORM,
          since: text,
          writers: [{ manager: text, units: 3 }],
          worst,
          version: text,
          dialect: created.dialect,
        })
        assert.ok(storm.body.length <= created.dialect.bodyLimit)
        assert.deepEqual(actsOfMarkdown(storm.body, GIVEN), [])
        for (const kind of ['edited', 'moved-to-mass', 'not-restored'] as const) {
          const { body } = createOutcomeComment({
            kind,
            why: text,
            author: text,
            label: text,
            url: text,
            clusters: 2,
            at: text,
          })
          assert.deepEqual(actsOfMarkdown(body, GIVEN), [])
        }
      },
    ),
    { numRuns: 50 },
  )
})

test('an onboarding proposal of any content is inert and fits the limit', () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      subject,
      fc.array(word, { maxLength: 12 }),
      fc.boolean(),
      (changes, created, texts, valid) => {
        const [text = ''] = texts
        const expected = {
          ...ONBOARDING.expected,
          failed: [{ packageName: text, cluster: text, code: text, why: text }],
        }
        const { title, body } = formatOnboardingText({
          ...ONBOARDING,
          dialect: created.dialect,
          version: text,
          baseBranch: text,
          clusters: texts,
          syncers: texts.map((name) => ({
            name,
            sentence: created.applier.phrases.sentence,
            units: 2,
          })),
          notImported: texts.map((rule) => ({ source: text, rule, why: rule })),
          notObserved: texts,
          expected: valid
            ? {
                proposals: texts.map((packageName) => ({
                  packageName,
                  cluster: text,
                  changes,
                  mode: 'Warn',
                })),
                modes: { Propose: 0, Warn: 1, Off: 0 },
                muted: { fields: 1, rules: 1 },
                incomplete: 0,
                objects: 1,
                failed: expected.failed,
              }
            : undefined,
          policyPath: text,
          policyProblem: texts.join('\n'),
          files: texts,
          editedBy: text,
        })
        assert.ok(
          body.length <= created.dialect.bodyLimit,
          `${body.length} of ${created.dialect.bodyLimit}`,
        )
        assert.equal(title, 'chore(drift): configure Backporch')
        assert.deepEqual(actsOfMarkdown(body, GIVEN), [])
        assert.deepEqual(readTicks(body), [])
        assert.match(body, /\n<!-- backporch:v1 configure -->\n$/)
      },
    ),
    { numRuns: 100 },
  )
})
