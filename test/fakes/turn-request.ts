/** Requests of turns as tests write them: one flat list of options. */
import { omitUndefined } from '@backporch/kyaml/text'
import type {
  ClusterPart,
  ForgePart,
  GitPart,
  PolicyPart,
  TurnRequest,
  UnitSelection,
} from '../../src/reconcile/observe/turn-request.ts'

type Parts = 'mode' | 'units' | 'git' | 'cluster' | 'policy' | 'forge'
type Options = UnitSelection &
  GitPart &
  ClusterPart &
  PolicyPart &
  ForgePart &
  Omit<TurnRequest, Parts>

/** `dryRun` is the mode `read`, or `rehearse` with `rehearses`. */
export type TestRequest = Partial<Options> & {
  readonly dryRun?: boolean
  readonly rehearses?: boolean
}

export function turnRequest(
  options: TestRequest & Pick<Options, 'bot' | 'clock' | 'key' | 'renderer'>,
): TurnRequest {
  const {
    dryRun = false,
    rehearses = false,
    packages = [],
    folders,
    labels,
    only,
    branch,
    takeRefs,
    bot,
    ...others
  } = options
  const {
    watched,
    deadline,
    audit,
    unmanaged,
    fieldManager,
    operator,
    requestedActions,
    resolutionRequest,
    meanwhile,
    version = '0.0.0',
    ...rest
  } = others
  return {
    ...rest,
    mode: !dryRun ? 'apply' : rehearses ? 'rehearse' : 'read',
    units: { packages, labels, only, ...omitUndefined({ folders, watched }) },
    git: { branch, bot, ...(takeRefs === undefined ? {} : { takeRefs }) },
    cluster: { audit, deadline, ...omitUndefined({ unmanaged }) },
    policy: { fieldManager, operator },
    forge: {
      requestedActions,
      resolutionRequest,
      version,
      ...omitUndefined({ meanwhile }),
    },
  }
}
