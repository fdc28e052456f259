import { formatUnitKey, type PlannedUnit } from '../../src/plan/observation/planned-unit.ts'
import { type LimitsQuestion, planHolds } from '../../src/plan/turn/limits/plan-limits.ts'
import {
  DEFAULT_LIMITS,
  DEFAULT_POLICY,
  type EffectivePolicy,
} from '../../src/policy/effective-policy.ts'
import type { Change } from '../../src/record/documents/change.ts'
import { changeOf } from './record-samples.ts'

export const NOW = '2026-11-21T10:00:00Z'

export const LONG_AGO = '2026-11-21T08:00:00Z'

interface Sample {
  readonly name: string
  readonly risk?: Change['risk']
  readonly began?: string
  /** Time of the manager; none where it is not known. */
  readonly at?: string
  readonly branch?: string
  readonly policy?: Partial<EffectivePolicy>
  readonly recorded?: boolean
  readonly lifecycle?: 'Proposed' | 'Draft' | ''
  readonly open?: boolean
  readonly cluster?: string
  readonly verdicts?: readonly unknown[]
}

/** A unit as far as it matters here. */
export function unit({
  name,
  risk = 'medium',
  began = LONG_AGO,
  at = LONG_AGO,
  ...more
}: Sample): PlannedUnit {
  const {
    branch = `proposed/${name}/drift-1`,
    policy,
    recorded = false,
    lifecycle = 'Proposed',
    open = false,
    cluster = 'prod',
    verdicts = [],
  } = more
  const actor = {
    ...changeOf().actor,
    at,
    confidence: at === '' ? ('none' as const) : ('field-manager' as const),
  }
  const report = {
    spec: {
      fingerprint: fingerprintOf(name),
      changes: [changeOf({ risk, actor, fingerprint: name })],
    },
    status: { lifecycle },
  }
  return {
    observation: {
      unit: { cluster, packagePath: name },
      cluster: { observedAt: NOW, recorded },
      git: {
        refs: new Map(open ? [[`refs/heads/${branch}`, 'x']] : []),
        ledger: { report: undefined },
      },
      policy: { ...DEFAULT_POLICY, ...policy },
      verdicts,
    } as never,
    plan: { report, record: { spec: { began } }, branch } as never,
  }
}

export function fingerprintOf(name: string): string {
  return `sha256:${Buffer.from(name.padEnd(32, '.')).toString('hex').slice(0, 64)}`
}

export function reasons(
  units: readonly PlannedUnit[],
  more: Partial<LimitsQuestion> = {},
): Record<string, string> {
  const holds = planHolds({
    units,
    limits: DEFAULT_LIMITS,
    proposals: { open: new Set(), openings: [] },
    storm: undefined,
    requested: new Set(),
    now: NOW,
    ...more,
  })
  return Object.fromEntries(
    units.map(({ observation: { unit: own } }) => {
      const hold = holds.get(formatUnitKey(own.cluster, own.packagePath))
      return [
        own.packagePath,
        hold === undefined
          ? 'open'
          : [hold.reason, hold.until].filter((part) => part !== undefined).join(' '),
      ]
    }),
  )
}

export function openings(...times: readonly string[]) {
  return {
    open: new Set(times.map((_at, index) => `refs/heads/proposed/x${index}/drift-1`)),
    openings: times,
  }
}
