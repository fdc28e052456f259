import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { driftOf, TEST_KEY } from '../../../../test/fakes/drift-samples.ts'
import { randomPath, randomText } from '../../../../test/property/random-krm.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import type { Drift, ObjectVerdict } from '../../../drift/compare/drift.ts'
import { computeItemFingerprint } from '../../../drift/compare/fingerprint.ts'
import { classifyIgnored } from '../../../drift/noise/classify-ignored.ts'
import { deriveEffectivePolicy } from '../../../policy/effective-policy.ts'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import { showChange } from '../../../record/build-report.ts'
import { formatInertDocument } from '../../../record/write-document.ts'
import { createUnitPolicy } from './comment-policy.ts'
import { createExactRules } from './exact-rules.ts'

const UNIT = { cluster: 'prod', packagePath: 'apps/web', slug: 'apps--web' }
const TODAY = '2026-11-21'

function verdictOf(id: Drift['id'], items: readonly Drift[]): ObjectVerdict {
  return {
    id,
    apiVersion: 'apps/v1',
    desired: undefined,
    state: 'drifted',
    proof: 'dry-run',
    items,
    setAside: [],
    failure: undefined,
    reapplyFails: undefined,
  }
}

/** What the printed text hides, once it is in `.drift/`. */
function hiddenBy(verdicts: readonly ObjectVerdict[], chosen: readonly Drift[]): readonly Drift[] {
  const changes = chosen.map((drift) => showChange({ drift, resolution: 'Restore' }, TEST_KEY))
  const rules = createExactRules({
    chosen: changes,
    verdicts,
    key: TEST_KEY,
    reason: 'why',
    expires: TODAY,
  })
  const set = parsePolicyFiles([
    { path: '.drift/ignore.yaml', text: formatInertDocument(createUnitPolicy(UNIT, rules)) },
  ])
  assert.deepEqual(
    deriveEffectivePolicy(set, 'other', UNIT.packagePath).ignore,
    [],
    'in no other cluster',
  )
  assert.deepEqual(
    deriveEffectivePolicy(set, UNIT.cluster, 'apps/web2').ignore,
    [],
    'of no other package',
  )
  const { ignore } = deriveEffectivePolicy(set, UNIT.cluster, UNIT.packagePath)
  return verdicts.flatMap((verdict) =>
    classifyIgnored(verdict, ignore, TODAY).setAside.map(({ drift }) => drift),
  )
}

/** Names of one pool, so that many lines are nearly the same. */
const id = fc.record({
  group: fc.constantFrom('', 'apps', 'apps.example.com'),
  kind: fc.constantFrom('Deployment', 'Service'),
  namespace: fc.constantFrom('', 'shop', 'shop2'),
  name: fc.oneof(
    fc.constantFrom('web', 'web*', 'w\\*b'),
    randomText.filter((text) => text !== ''),
  ),
})
const path = fc.oneof(
  fc
    .constantFrom(
      'spec.a',
      'spec.a.b',
      'spec',
      'spec.l[name="*"]',
      'spec.l[name=x]',
      'spec.l[name=x].v',
      'spec["a*"]',
      'spec["a\\\\*"]',
      'spec.s[="*"]',
    )
    .map((text) => driftOf(text).path),
  randomPath,
)
const field = fc.record({
  path,
  change: fc.constantFrom('modified' as const, 'added' as const, 'removed' as const),
  manager: fc.constantFrom('kubectl-edit', 'kubectl*', 'helm'),
  chosen: fc.boolean(),
})
const object = fc.record({
  id,
  whole: fc.constantFrom(undefined, 'missing' as const, 'unexpected' as const),
  chosen: fc.boolean(),
  fields: fc.array(field, { maxLength: 6 }),
})

test('printed rules hide exactly the chosen changes, or the request is rejected', () => {
  let proven = 0
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 4 }), (objects) => {
      const chosen: Drift[] = []
      const verdicts = objects.map(({ id: own, whole, chosen: isChosen, fields }) => {
        const lines = fields.map((one) => ({
          drift: driftOf('', {
            id: own,
            path: one.path,
            change: one.change,
            actor: { ...driftOf('').actor, manager: one.manager },
          }),
          isChosen: one.chosen,
        }))
        if (whole !== undefined)
          lines.push({ drift: driftOf('', { id: own, change: whole }), isChosen })
        for (const line of lines) if (line.isChosen) chosen.push(line.drift)
        return verdictOf(
          own,
          lines.map(({ drift }) => drift),
        )
      })
      if (chosen.length === 0) return
      const secret = chosen.some(
        ({ id, path: location }) => formatRedactedPath(location, id) !== formatFieldPath(location),
      )
      try {
        const hidden = hiddenBy(verdicts, chosen)
        const prints = (drifts: readonly Drift[]) =>
          new Set(drifts.map((drift) => computeItemFingerprint(drift, TEST_KEY)))
        assert.deepEqual(prints(hidden), prints(chosen))
        proven += 1
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        assert.ok(secret ? thrown.code === 'BP2001' : thrown.code === 'BP2010', thrown.message)
      }
    }),
    { numRuns: 250 },
  )
  assert.ok(proven > 100, `only ${proven} were printed at all`)
})

const WEB = driftOf('').id

test('the rule names the object and its fields, as a person would write it', () => {
  const items = [driftOf('spec.replicas'), driftOf('spec.paused')]
  const chosen = items
    .slice(0, 1)
    .map((drift) => showChange({ drift, resolution: 'Restore' }, TEST_KEY))
  assert.deepEqual(
    createExactRules({
      chosen,
      verdicts: [verdictOf(WEB, items)],
      key: TEST_KEY,
      reason: 'why',
      expires: undefined,
    }),
    [
      {
        target: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
        paths: ['spec.replicas'],
        reason: 'why',
      },
    ],
  )
})

test('a rule hides a field without its children, and one writer without the other', () => {
  const above = driftOf('spec.template')
  const below = driftOf('spec.template.metadata')
  assert.deepEqual(hiddenBy([verdictOf(WEB, [above, below])], [above]), [above])
  const other = driftOf('spec.replicas', { actor: { ...above.actor, manager: 'helm' }, live: 7 })
  assert.deepEqual(hiddenBy([verdictOf(WEB, [driftOf('spec.replicas'), other])], [other]), [other])
})

test('rejects changes that no rule can tell apart, and a credential in a path', () => {
  const twins = [driftOf('spec.a', { live: 1 }), driftOf('spec.a', { live: 2 })]
  assert.throws(
    () => hiddenBy([verdictOf(WEB, twins)], twins.slice(0, 1)),
    /BP2010|no rule hides exactly these lines/,
  )
  const secret = [driftOf('metadata.finalizers[=ghp_0123456789abcdefghij]')]
  assert.throws(() => hiddenBy([verdictOf(WEB, secret)], secret), /credential/)
})
