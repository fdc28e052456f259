/**
 * Runs the turn of design §2 with a policy that is not on the base branch yet. It writes nothing.
 */
import { convertToFailure } from '@backporch/kyaml/failure'
import { classifyIgnored } from '../../drift/noise/classify-ignored.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import type { ObservedUnit } from '../../plan/turn/turn-observation.ts'
import { deriveEffectivePolicy, listPlacedPackages } from '../../policy/effective-policy.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type {
  Expectation,
  ExpectedProposal,
  OnboardingSubject,
} from '../../proposal/text/onboarding-text.ts'

type Failed = Expectation['failed'][number]

export async function computeExpectation(
  units: readonly ObservedUnit[],
  policies: PolicySet,
  cluster: string,
  plan: (observation: Observation) => Promise<UnitPlan>,
): Promise<Expectation> {
  const placed = listPlacedUnits(units, policies, cluster)
  const modes = { Propose: 0, Warn: 0, Off: 0 }
  const proposals: ExpectedProposal[] = []
  const failed: Failed[] = []
  const rules = new Set<string>()
  let fields = 0
  let incomplete = 0
  let objects = 0
  for (const unit of placed) {
    const { mode } = deriveEffectivePolicy(policies, cluster, getUnitPackagePath(unit))
    modes[mode] += 1
    if (unit.state === 'failed') {
      const [{ code, why }] = unit.failures
      failed.push({ packageName: unit.packagePath || '.', cluster, code, why })
      continue
    }
    const observation = applyPolicy(unit.observation, policies)
    const muted = observation.verdicts.flatMap(({ setAside }) =>
      setAside.filter(({ state }) => state === 'Ignored'),
    )
    fields += muted.length
    for (const { why } of muted) rules.add(why)
    if (observation.incomplete.length > 0) incomplete += 1
    const { packageName } = observation.unit
    try {
      const { report } = await plan(observation)
      objects += report.spec.observed.objects
      // A draft in mode Propose waits for its time, and is then proposed.
      if (report.status.lifecycle !== '')
        proposals.push({ packageName, cluster, changes: report.spec.changes, mode })
    } catch (thrown) {
      const { code, why } = convertToFailure(thrown)
      failed.push({ packageName, cluster, code, why })
    }
  }
  return { proposals, modes, muted: { fields, rules: rules.size }, failed, incomplete, objects }
}

function applyPolicy(observation: Observation, policies: PolicySet): Observation {
  const { unit, cluster } = observation
  const policy = deriveEffectivePolicy(policies, unit.cluster, unit.packagePath)
  const today = cluster.observedAt.slice(0, 10)
  return {
    ...observation,
    verdicts: observation.verdicts.map((verdict) => classifyIgnored(verdict, policy.ignore, today)),
    policy: { ...policy, mode: 'Propose', fieldManager: observation.policy.fieldManager },
  }
}

export function listPlacedUnits(
  units: readonly ObservedUnit[],
  policies: PolicySet,
  cluster: string,
): readonly ObservedUnit[] {
  const placed = listPlacedPackages(policies, cluster, units.map(getUnitPackagePath))
  return placed === undefined
    ? units
    : units.filter((unit) => placed.includes(getUnitPackagePath(unit)))
}

export function listOnboardingSources(
  units: readonly ObservedUnit[],
): OnboardingSubject['sources'] {
  return units.flatMap((unit) => {
    const title = unit.state === 'failed' ? undefined : unit.observation.unit.appliedBy
    if (unit.state === 'failed' || title === undefined) return []
    const { verdicts, unit: own } = unit.observation
    const differences = verdicts.reduce((sum, { items }) => sum + items.length, 0)
    const objects = verdicts.filter(({ desired }) => desired !== undefined).length
    return [{ title, path: own.packagePath, cluster: own.cluster, objects, differences }]
  })
}

export function getUnitPackagePath(unit: ObservedUnit): string {
  return unit.state === 'failed' ? unit.packagePath : unit.observation.unit.packagePath
}

export function listUnitSyncers(units: readonly ObservedUnit[]): OnboardingSubject['syncers'] {
  const appliers = units.flatMap((unit) =>
    unit.state === 'failed' ? [] : [unit.observation.applier],
  )
  const groups = [
    ...Map.groupBy(appliers, ({ name, sentence }) => JSON.stringify([name, sentence])),
  ]
  return groups
    .sort(([one, left], [other, right]) => right.length - left.length || (one < other ? -1 : 1))
    .flatMap(([, [first, ...more]]) =>
      first === undefined
        ? []
        : [{ name: first.name, sentence: first.phrases.sentence, units: more.length + 1 }],
    )
}
