/** Reports every problem of every file at once. */
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import { getKey, isJsonObject } from '@backporch/kyaml/json'
import { convertDurationToSeconds } from '@backporch/kyaml/text'
import type { ActorRule } from '../drift/attribute/actor-classes.ts'
import type { IgnoreRule } from '../drift/noise/ignore-rules.ts'
import type { VisibilityRules } from '../drift/noise/visibility.ts'
import type { RiskOverride } from '../drift/risk/risk-overrides.ts'
import { isNoManifest } from '../record/write-document.ts'
import type { RenderChoice, SyncedChoice } from '../sources/build/render-choice.ts'
import { createActorRule, createRiskOverride } from './attribution-schema.ts'
import { createIgnoreRule } from './ignore-schema.ts'
import type { LastGoodPolicy } from './last-good-policy.ts'
import {
  type Locations,
  listSchemaProblems,
  type Problem,
  readLocated,
} from './located-documents.ts'
import {
  type DriftPolicyDocument,
  driftPolicySchema,
  type PlacementDocument,
  placementSchema,
} from './schema.ts'
import { createVisibilityRule } from './visibility-schema.ts'
import type { PolicyWindow } from './windows.ts'

export interface PolicyFile {
  /** From the repository root; for the operator's files, as the operator named it. */
  readonly path: string
  readonly text: string
}

type PolicyOrigin = 'operator' | 'repository'

export interface Policy {
  readonly document: DriftPolicyDocument
  /** As `.drift/policy.yaml:1`. */
  readonly where: string
  /** Default: the repository. */
  readonly origin?: PolicyOrigin
  readonly ignore: readonly IgnoreRule[]
  readonly windows: readonly PolicyWindow[]
  readonly actors: readonly ActorRule[]
  readonly riskOverrides: readonly RiskOverride[]
  readonly visibility: VisibilityRules
}

export interface Binding {
  readonly spec: PlacementDocument['spec'] & {
    readonly allow: NonNullable<PlacementDocument['spec']['allow']>
  }
  readonly name: string
  readonly where: string
  readonly origin: PolicyOrigin
}

export interface PolicySet {
  /** Set if it is not the policy of the base commit. */
  readonly lastGood?: LastGoodPolicy
  readonly policies: readonly Policy[]
  /** Only the repository decides which packages run where. */
  readonly placements: readonly PlacementDocument[]
  readonly bindings?: readonly Binding[]
  /** Units without a Kptfile, with the rendering unless a policy sets another. */
  readonly folders?: ReadonlyMap<string, RenderChoice>
  readonly synced?: ReadonlyMap<string, ReadonlyMap<string, SyncedChoice>>
}

/** BP1005, with every problem of all files. */
export class InvalidPolicy extends Failure {
  readonly problems: readonly [Problem, ...Problem[]]

  constructor(detail: FailureDetail, problems: InvalidPolicy['problems']) {
    super(detail)
    this.problems = problems
  }
}

/** @throws InvalidPolicy */
export function parsePolicyFiles(
  files: readonly PolicyFile[],
  origin: PolicyOrigin = 'repository',
): PolicySet {
  const found: Found = { policies: [], placements: [], bindings: [], problems: [] }
  for (const file of files) readFile(file, origin, found)
  const names = new Map<string, string>()
  for (const { document, where } of found.policies) {
    const first = names.get(document.metadata.name)
    if (first !== undefined)
      found.problems.push({
        where,
        why: `the DriftPolicy ${document.metadata.name} is already declared at ${first}`,
      })
    else names.set(document.metadata.name, where)
  }
  const [first, ...others] = found.problems
  if (first !== undefined) throw createPolicyFailure([first, ...others], origin)
  const { policies, placements, bindings } = found
  return { policies, placements: origin === 'repository' ? placements : [], bindings }
}

/** @param operator never read from the repository */
export function addOperatorPolicies(own: PolicySet, operator: PolicySet): PolicySet {
  return {
    ...own,
    policies: [...operator.policies, ...own.policies],
    bindings: [...(operator.bindings ?? []), ...(own.bindings ?? [])],
  }
}

interface Found {
  readonly policies: Policy[]
  readonly placements: PlacementDocument[]
  readonly bindings: Binding[]
  readonly problems: Problem[]
}

function createPolicyFailure(
  problems: InvalidPolicy['problems'],
  origin: PolicyOrigin,
): InvalidPolicy {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  const location = origin === 'operator' ? '' : ' on the base branch'
  return new InvalidPolicy(
    {
      code: 'BP1005',
      what: `the policy of the ${origin} has ${count}`,
      why: problems.map(({ where, why }) => `${where}: ${why}`).join('\n       '),
      remedy: `correct the lines named above${location}; until then nothing is observed`,
      retry: 'on-change',
    },
    problems,
  )
}

function readFile(
  file: PolicyFile,
  origin: PolicyOrigin,
  { policies, placements, bindings, problems }: Found,
): void {
  for (const { value, location } of readLocated(file, problems)) {
    if (isNoManifest(value)) continue
    const kind = isJsonObject(value) ? getKey(value, 'kind') : undefined
    if (kind === 'DriftPolicy') {
      const checked = driftPolicySchema.safeParse(value)
      if (!checked.success) problems.push(...listSchemaProblems(checked.error, location))
      else {
        const { data } = checked
        policies.push({
          document: data,
          where: location.formatLocation([]),
          origin,
          ignore: readRules(data, location),
          windows: readWindows(data, location),
          actors: (data.spec.actors ?? []).map((rule, index) =>
            createActorRule(rule, location.formatLocation(['spec', 'actors', index])),
          ),
          riskOverrides: (data.spec.riskOverrides ?? []).map((rule, index) =>
            createRiskOverride(rule, location.formatLocation(['spec', 'riskOverrides', index])),
          ),
          visibility: {
            hide: (data.spec.hide ?? []).map((rule, index) =>
              createVisibilityRule(rule, location.formatLocation(['spec', 'hide', index])),
            ),
            show: (data.spec.show ?? []).map((rule, index) =>
              createVisibilityRule(rule, location.formatLocation(['spec', 'show', index])),
            ),
          },
        })
      }
    } else if (kind === 'Placement') {
      const checked = placementSchema.safeParse(value)
      if (!checked.success) problems.push(...listSchemaProblems(checked.error, location))
      else {
        const { metadata, spec } = checked.data
        const { allow } = spec
        placements.push(checked.data)
        if (allow !== undefined)
          bindings.push({
            spec: { ...spec, allow },
            name: metadata.name,
            where: location.formatLocation(['spec', 'allow']),
            origin,
          })
      }
    } else
      problems.push({
        where: location.formatLocation(['kind']),
        why: `unknown kind ${JSON.stringify(kind ?? null)}; wanted DriftPolicy or Placement`,
      })
  }
}

function readRules({ metadata, spec }: DriftPolicyDocument, location: Locations): IgnoreRule[] {
  const policy = { name: metadata.name, priority: spec.priority ?? 0 }
  return (spec.ignore ?? []).map((rule, index) =>
    createIgnoreRule(rule, {
      where: location.formatLocation(['spec', 'ignore', index]),
      level: 'policy',
      policy,
    }),
  )
}

function readWindows(document: DriftPolicyDocument, location: Locations): PolicyWindow[] {
  return (document.spec.windows ?? []).flatMap(
    (
      { name, kind, schedule, duration, timezone = 'UTC', when, except = [] },
      index,
    ): PolicyWindow[] => {
      const window = {
        name,
        kind,
        where: location.formatLocation(['spec', 'windows', index]),
        except,
      }
      if (when !== undefined) return [{ ...window, labels: new Map(Object.entries(when.label)) }]
      return schedule === undefined || duration === undefined
        ? []
        : [{ ...window, schedule, duration: convertDurationToSeconds(duration), timezone }]
    },
  )
}
