import assert from 'node:assert/strict'
import { test } from 'node:test'
import { path } from '../../../test/fakes/live-object.ts'
import { RISK_EXAMPLES, type RiskExample } from '../../../test/fakes/risk-examples.ts'
import { getImagePublisher } from '../attribute/image-publisher.ts'
import { RISKS } from '../compare/drift.ts'
import { assessRisk, RISK_RULES, type RiskRule } from './risk.ts'

function assess({ kind, change, path: location, git, live }: RiskExample): RiskRule {
  const slash = kind.indexOf('/')
  const id = {
    group: kind.slice(0, Math.max(0, slash)),
    kind: kind.slice(slash + 1),
    namespace: 'shop',
    name: 'web',
  }
  return assessRisk({ id, change, path: location === '' ? [] : path(location), git, live })
}

function reported({ kind, change, path: location, live }: RiskExample): string {
  return `${change} ${kind} ${location} ${JSON.stringify(live) ?? ''}`.trim()
}

for (const [code, { risk, has, not }] of Object.entries(RISK_EXAMPLES)) {
  for (const example of has) {
    test(`${code}, ${risk}: ${reported(example)}`, () => {
      const rule = assess(example)
      assert.deepEqual([rule.code, rule.risk], [code, risk])
    })
  }
  for (const [example, instead] of not) {
    test(`${instead} and not ${code}: ${reported(example)}`, () => {
      const rule = assess(example)
      assert.deepEqual([rule.code, rule.risk], [instead, RISK_EXAMPLES[instead]?.risk])
    })
  }
}

test('every rule is unique and has examples, and the last rule matches everything', () => {
  assert.equal(new Set(RISK_RULES.map(({ code }) => code)).size, RISK_RULES.length)
  assert.deepEqual(
    Object.keys(RISK_EXAMPLES),
    RISK_RULES.map(({ code }) => code),
  )
  assert.equal(RISK_RULES.at(-1)?.code, 'SPEC-OTHER')
})

test('every risk has a rule, and only labels and annotations are low', () => {
  for (const risk of RISKS)
    assert.ok(
      RISK_RULES.some((rule) => rule.risk === risk),
      risk,
    )
  assert.deepEqual(
    RISK_RULES.filter(({ risk }) => risk === 'low').map(({ code }) => code),
    ['META'],
  )
})

const PUBLISHERS: readonly (readonly [image: string, publisher: string])[] = [
  ['nginx', 'docker.io/library'],
  ['docker.io/nginx', 'docker.io/library'],
  ['index.docker.io/library/nginx:1', 'docker.io/library'],
  ['acme/app@sha256:00', 'docker.io/acme'],
  ['localhost/x', 'localhost'],
  ['r.example.com:5000/a/b:1', 'r.example.com:5000'],
  ['quay.io/acme/app', 'quay.io/acme'],
  ['ghcr.io/app', 'ghcr.io/'],
]

for (const [image, publisher] of PUBLISHERS) {
  test(`${image} is published by ${publisher}`, () =>
    assert.equal(getImagePublisher('spec.image', image), publisher))
}
