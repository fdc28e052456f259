import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { signOff } from '@backporch/git-store/commit'
import { parseKptAnnotations } from '@backporch/kpt/kptfile'
import { changeOf, HOSTILE_TEXTS, recordOf } from '../../test/fakes/record-samples.ts'
import {
  formatApprovalMessage,
  formatLedgerMessage,
  formatProposalMessage,
  type MessageSubject,
} from './commit-message.ts'
import type { Change } from './documents/change.ts'
import type { DriftRecord } from './documents/drift-record.ts'

const APPROVAL = { revision: 4, decidedBy: 'Ada <ada@example.com>', at: '2026-11-21T11:00:00Z' }

function subjectOf(record: DriftRecord, more: Partial<MessageSubject> = {}): MessageSubject {
  return {
    record,
    slug: 'apps--web',
    packageName: 'apps/web',
    sourceRevision: 'deploy.apps.web.v3',
    ...more,
  }
}

function trailersOf(message: string): string[] {
  return execFileSync('git', ['interpret-trailers', '--parse'], {
    input: signOff(message, { name: 'bot', email: 'bot@example.com' }),
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n')
}

test('formats the whole message of a proposal', () => {
  const record = recordOf([changeOf({ resolution: 'Adopt' })], {
    plan: 'Adopt',
    message: 'load test',
  })
  assert.equal(
    formatProposalMessage(subjectOf(record), 'Proposed'),
    `fix(drift): adopt Deployment/web replicas 5 in prod (git 3)

  Deployment shop/web
    spec.replicas  3 → 5  by kubectl-edit 2026-11-21T09:30:00Z  medium AVAIL-REPLICAS

Why: load test

Merging makes git say what the cluster runs.

kpt:{"package":"apps/web","workspaceName":"drift-1a2b3c4d","revision":"0","task":{"type":"edit","edit":{"sourceRef":{"name":"deploy.apps.web.v3"}}}}

Drift-Id: prod/apps--web/1a2b3c4d
Drift-Fingerprint: ${record.spec.fingerprint}
Drift-Resolution: Adopt
Drift-Risk: medium
Drift-Cluster: prod
Drift-Package: apps/web@v3
Drift-Object: apps/Deployment/shop/web
Drift-Actor: kubectl-edit (field-manager)
Drift-Detected-At: 2026-11-21T10:00:00Z
`,
  )
})

test('git parses exactly the expected trailers', () => {
  const lines = trailersOf(formatApprovalMessage(subjectOf(recordOf([changeOf()])), APPROVAL))
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(':'))),
    [
      'Drift-Id',
      'Drift-Fingerprint',
      'Drift-Resolution',
      'Drift-Risk',
      'Drift-Cluster',
      'Drift-Package',
      'Drift-Object',
      'Drift-Actor',
      'Drift-Detected-At',
      'Drift-Decided-By',
      'Drift-Decided-At',
      'Signed-off-by',
    ],
  )
})

/** One message for each place where somebody's text may stand. */
function messagesWith(text: string): readonly (readonly [place: string, message: string])[] {
  const ref = { group: text, kind: text, namespace: text, name: text }
  const actor = { ...changeOf().actor, manager: text, at: text }
  const changes: readonly Change[] = [
    changeOf({ git: text, live: { [text]: text } }),
    changeOf({ path: text }),
    changeOf({ ref }),
    changeOf({ actor }),
    changeOf({ resolution: 'Adopt', live: text }),
    changeOf({ change: 'missing', ref }),
  ]
  const records = [
    ...changes.map((change) => recordOf([change])),
    recordOf(changes),
    recordOf([changeOf()], { message: text }),
    recordOf([changeOf()], { unit: { ...recordOf([]).spec.unit, cluster: text, package: text } }),
  ]
  return [
    ...records.flatMap((record, index) => [
      [`record ${index}, draft`, formatProposalMessage(subjectOf(record), 'Draft')] as const,
      [`record ${index}, proposed`, formatProposalMessage(subjectOf(record), 'Proposed')] as const,
      [`record ${index}, approved`, formatApprovalMessage(subjectOf(record), APPROVAL)] as const,
    ]),
    [
      'decider',
      formatApprovalMessage(subjectOf(recordOf([changeOf()])), {
        ...APPROVAL,
        decidedBy: text,
        at: text,
      }),
    ],
    [
      'package',
      formatApprovalMessage(
        subjectOf(recordOf([changeOf()]), { packageName: text, slug: text, sourceRevision: text }),
        APPROVAL,
      ),
    ],
  ]
}

const OURS = new Set([
  'Drift-Id',
  'Drift-Fingerprint',
  'Drift-Resolution',
  'Drift-Risk',
  'Drift-Cluster',
  'Drift-Package',
  'Drift-Object',
  'Drift-Actor',
  'Drift-Detected-At',
  'Drift-Decided-By',
  'Drift-Decided-At',
  'Signed-off-by',
])

/** What a forge would act on. */
const MARKS = [
  /(^|[^\w.])@\w/,
  /[#!]\d/,
  /\bGH-\d/i,
  /:\/\/\S+\/issues\/\d/,
  /\[(skip|ci|no)[ -]\w*\]/i,
  /\*\*\*NO_CI\*\*\*/,
  /skip-checks:/i,
]
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/u

for (const text of HOSTILE_TEXTS) {
  test(`the text ${JSON.stringify(text).slice(0, 40)} forges nothing in a message, in any place`, () => {
    const messages = messagesWith(text)
    for (const [location, message] of messages) {
      const [subject = '', blank] = message.split('\n')
      assert.ok(Array.from(subject).length <= 100, `${location}: ${subject}`)
      assert.match(subject, /^(fix|chore)\(drift\): (record|restore|adopt|release) /)
      assert.equal(blank, '')
      assert.ok(message.length < 60_000, `${location}: ${message.length}`)
      for (const mark of MARKS) assert.doesNotMatch(message, mark, location)
      assert.doesNotMatch(message, UNSEEN, location)
      assert.doesNotMatch(message, /^(Signed-off-by|Co-authored-by|\/approve|---)/im, location)
      const { annotations } = parseKptAnnotations(message)
      assert.equal(annotations.length, 1, location)
      assert.equal(annotations[0]?.workspace, 'drift-1a2b3c4d')
    }
    for (const [position, message] of [messages[6 * 3], messages.at(-1), messages.at(-2)].flatMap(
      (each) => (each === undefined ? [] : [each]),
    )) {
      const lines = trailersOf(message)
      const names = lines.map((line) => line.slice(0, line.indexOf(':')))
      assert.deepEqual(
        names.filter((name) => !OURS.has(name)),
        [],
        position,
      )
      for (const name of ['Drift-Resolution', 'Drift-Fingerprint', 'Signed-off-by'])
        assert.equal(names.filter((each) => each === name).length, 1, `${position} ${name}`)
      assert.ok(lines.includes('Signed-off-by: bot <bot@example.com>'), position)
    }
  })
}

test('a package path with special characters survives in the JSON annotation', () => {
  const message = formatProposalMessage(
    subjectOf(recordOf([changeOf()]), { packageName: 'apps/@team #1 [skip ci]' }),
    'Proposed',
  )
  assert.equal(parseKptAnnotations(message).annotations[0]?.packagePath, 'apps/@team #1 [skip ci]')
})

test('a hidden value stays hidden in the message', () => {
  const message = formatProposalMessage(
    subjectOf(
      recordOf([
        changeOf({ git: 'hmac-sha256:0123456789abcdef (8 bytes)', live: 'redacted (not read)' }),
      ]),
    ),
    'Proposed',
  )
  assert.match(message, /•••• → ••••/)
  assert.doesNotMatch(message, /hmac/)
})

test('many changes are counted instead of listed', () => {
  const changes = Array.from({ length: 500 }, (_, index) =>
    changeOf({ ref: { ...changeOf().ref, name: `web-${index}` } }),
  )
  const message = formatProposalMessage(subjectOf(recordOf(changes)), 'Proposed')
  assert.match(message, /^chore\(drift\): restore 500 changes of apps\/web in prod\n/)
  assert.match(message, /and 480 more, see the record/)
  assert.match(message, /Drift-Object-Count: 500/)
  assert.ok(message.length < 6_000)
})

test('an actor known only as the last writer is named with "perhaps"', () => {
  const actor = { ...changeOf().actor, confidence: 'last-writer' } as const
  const message = formatProposalMessage(
    subjectOf(recordOf([changeOf({ change: 'removed', actor })])),
    'Proposed',
  )
  assert.match(message, /→ 5 {2}perhaps by kubectl-edit {2}medium/)
  assert.match(message, /^Drift-Actor: kubectl-edit \(last-writer\)$/m)
})

test('the message names who restores the cluster, the syncer or backporch', () => {
  const settle = (by: 'syncer' | 'backporch') =>
    formatProposalMessage(subjectOf(recordOf([changeOf()], { settle: by })), 'Proposed')
  assert.match(settle('syncer'), /the syncer of the package puts the cluster back/)
  assert.match(settle('backporch'), /backporch then writes exactly these values to the cluster/)
})

test('a ledger commit message skips CI and stays short with any names', () => {
  assert.equal(
    formatLedgerMessage('prod', ['apps/web: InSync']),
    'status(prod): apps/web: InSync\n\n[skip ci]\n',
  )
  for (const text of HOSTILE_TEXTS) {
    for (const lines of [[text], [text, text], Array<string>(1000).fill(text)]) {
      const message = formatLedgerMessage(text, lines)
      assert.ok(Array.from(message.split('\n')[0] ?? '').length <= 100)
      assert.ok(message.length < 12_000)
      assert.doesNotMatch(message, UNSEEN)
      assert.doesNotMatch(message, /^(Signed-off-by|kpt:|---)/m)
      assert.equal(parseKptAnnotations(message).annotations.length, 0)
    }
  }
})
