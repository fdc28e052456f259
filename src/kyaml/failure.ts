/**
 * The only error type. Adapters translate library errors once, by status or class and never by
 * message text.
 */
import { escapeUnseenLines } from './text/foreign-text.ts'

/** The first sentence of `backporch explain BPnnnn`. The range names the area. */
export const FAILURE_CODES = {
  BP1001: 'the command line is not valid',
  BP1002: 'the path is not a git repository',
  BP1003: 'the branch does not exist',
  BP1004: 'no package was found: there is no Kptfile',
  BP1005: 'a policy, a placement or the configuration of the controller is not valid',
  BP1006: 'the kubeconfig cannot be used',
  BP1007: 'a syncer would apply files that backporch keeps next to the packages',
  BP1008: 'the kubeconfig wants to run a program that is not allowed',
  BP1009: 'the installation key cannot be used',
  BP1010: 'the recorded cluster cannot be read',
  BP1011: 'the selector matches nothing',
  BP1012: 'commits cannot be signed with the key that was given',
  BP1101: 'the file is not a valid Kptfile',
  BP1102: 'the package has no name',
  BP1103: 'the Kptfile has a field that kpt does not know',
  BP1104: 'a function of the pipeline is not valid',
  BP1110: 'the YAML is not valid',
  BP1111: 'a file or a package is larger or deeper than the limit',
  BP1112: 'a document is not a Kubernetes object',
  BP1113: 'two places declare one object',
  BP1201: 'no runtime can run a function of the pipeline',
  BP1202: 'a function of the pipeline failed',
  BP1203: 'a function of the pipeline broke a limit',
  BP1204: 'a function of the pipeline does not return a package',
  BP1205: 'a function of the pipeline gives different output for the same input',
  BP1206: 'the operator does not allow a function of the pipeline',
  BP1207: 'a second render changes the rendered package again',
  BP1208: 'the operator does not allow the program that renders the package',
  BP1209: 'the program that renders the package failed',
  BP1210: 'the kustomization or chart cannot be built from the repository alone',
  BP1211: 'encrypted values cannot be decrypted',
  BP2001: 'the live value cannot be adopted or released',
  BP2002: 'a Secret value cannot be adopted',
  BP2004: 'there is no open proposal',
  BP2005: 'the cluster changed since the proposal was reviewed',
  BP2006: 'the base branch kept moving',
  BP2007: 'the file cannot be edited at that place',
  BP2008: 'there is no drift to decide about',
  BP2009: 'another author edited the branch',
  BP2010: 'the resolution does not fit the change',
  BP2011: 'the decision requires confirmation',
  BP2012: 'the package in this cluster follows another branch',
  BP2013: 'the person may not decide this',
  BP2014: 'several places give the live value',
  BP2015: 'there is no copy of what would be deleted',
  BP2016: 'the observation is older than the one in the ledger',
  BP3001: 'the cluster could not be observed',
  BP3002: 'the cluster does not accept the credentials',
  BP3003: 'the cluster forbids the request',
  BP3004: 'the cluster asks to slow down',
  BP3005: 'the cluster answered with an error of its own',
  BP3006: 'the cluster did not answer in time',
  BP3007: 'the connection to the cluster is not trusted',
  BP3008: 'the address does not answer as a Kubernetes API server',
  BP3009: 'the cluster does not serve this kind',
  BP3010: 'the list was not complete and consistent',
  BP3011: 'the cluster refuses the object',
  BP3012: 'the live state could not be read in full, so it could not be proven',
  BP3013: 'no merged commit authorises the write',
  BP3014: 'the applied change did not appear in the cluster in time',
  BP3015: 'another cluster answers under this name',
  BP3016: 'the last observation is too old to show the current state',
  BP3017: 'the object is outside what the package covers',
  BP3018: 'the ledger has no observation of the unit that can be read',
  BP4001: 'the repository cannot be reached',
  BP4002: 'the push was refused by a rule of the repository',
  BP4003: 'the branch moved between reading and pushing',
  BP4004: 'the branch or tag name is not allowed',
  BP4005: 'the repository does not accept the credentials',
  BP4006: 'the repository is damaged',
  BP4007: 'the work tree has changes that are not committed',
  BP4008: 'the data cannot be written to disk',
  BP4009: 'git is not installed',
  BP4010: 'the repository is of a kind that cannot be read',
  BP4011: 'the clone does not have the older commits',
  BP5001: 'the forge cannot be reached',
  BP5002: 'the forge does not accept the credentials',
  BP5003: 'the forge does not show the repository, or does not allow the request',
  BP5004: 'the forge asks to slow down',
  BP5005: 'the forge answered with an error of its own',
  BP5006: 'the forge refused the request',
  BP5007: 'the address does not answer as the expected forge',
  BP5008: 'the repository is archived, moved or gone',
  BP9001: 'backporch has a fault',
} as const

export type FailureCode = keyof typeof FAILURE_CODES

/** `backoff`: may succeed later. `on-change`: only after somebody changed something. */
export type Retry = 'backoff' | 'on-change' | 'never'

export interface FailureDetail {
  readonly code: FailureCode
  /** A clause after "error BPnnnn: ". Never a secret. */
  readonly what: string
  /** File with line and column, or cluster/kind/namespace/name, or repository and ref. */
  readonly where?: string
  readonly why: string
  readonly remedy: string
  readonly retry?: Retry
  readonly cause?: unknown
}

export class Failure extends Error {
  readonly code: FailureCode
  readonly what: string
  readonly where: string | undefined
  readonly why: string
  readonly remedy: string
  readonly retry: Retry

  constructor(detail: FailureDetail) {
    // Quoted text must not act on a terminal.
    const [what, why] = [escapeUnseenLines(detail.what), escapeUnseenLines(detail.why)]
    super(`${what}: ${why}`, detail.cause === undefined ? {} : { cause: detail.cause })
    this.name = 'Failure'
    this.code = detail.code
    this.what = what
    this.where = detail.where === undefined ? undefined : escapeUnseenLines(detail.where)
    this.why = why
    this.remedy = escapeUnseenLines(detail.remedy)
    this.retry = detail.retry ?? 'never'
  }

  replaceReason(why: string): Failure {
    return new Failure({ ...this.toJSON(), why })
  }

  toJSON(): FailureDetail {
    const { code, what, where, why, remedy, retry } = this
    return { code, what, ...(where === undefined ? {} : { where }), why, remedy, retry }
  }
}

export class Failures extends Error {
  readonly failures: readonly [Failure, ...Failure[]]

  constructor(failures: readonly [Failure, ...Failure[]]) {
    super(failures.map((failure) => failure.message).join('; '))
    this.name = 'Failures'
    this.failures = failures
  }
}

const INTERRUPTS = { SIGINT: 130, SIGTERM: 143 } as const

type Interrupt = keyof typeof INTERRUPTS

/** Not a failure of what was being read, rendered or written; only the command's end reports it. */
export class Interrupted extends Error {
  readonly by: Interrupt
  readonly exitCode: number

  constructor(by: Interrupt) {
    super(`interrupted by ${by}`)
    this.name = 'Interrupted'
    this.by = by
    this.exitCode = INTERRUPTS[by]
  }
}

/**
 * At least one.
 * @throws Interrupted
 */
export function listFailures(thrown: unknown): readonly [Failure, ...Failure[]] {
  return thrown instanceof Failures ? thrown.failures : [convertToFailure(thrown)]
}

const LOCATIONS = 3

export function groupFailures(failures: readonly Failure[]): readonly Failure[] {
  const groups = Map.groupBy(failures, ({ code, what, why, remedy }) =>
    JSON.stringify([code, what, why, remedy]),
  )
  return [...groups.values()].map((group) => {
    const [first] = group as [Failure, ...Failure[]]
    const locations = [
      ...new Set(group.flatMap(({ where }) => (where === undefined ? [] : [where]))),
    ]
    if (locations.length < 2) return first
    const more =
      locations.length > LOCATIONS
        ? `, and ${locations.length - LOCATIONS} more (-v prints each)`
        : ''
    const { code, what, why, remedy, retry } = first
    return new Failure({
      code,
      what,
      where: `${locations.slice(0, LOCATIONS).join(', ')}${more}`,
      why,
      remedy,
      retry,
    })
  })
}

/** `error BP2001: what` with `where`, `why` and `fix` below it. Ends without a line break. */
export function formatFailure(failure: Failure): string {
  const lines = [`error ${failure.code}: ${indentLines(failure.what)}`]
  if (failure.where !== undefined) lines.push(`  where: ${indentLines(failure.where)}`)
  lines.push(`  why: ${indentLines(failure.why)}`, `  fix: ${indentLines(failure.remedy)}`)
  return lines.join('\n')
}

/** Foreign text cannot begin a line that looks like Backporch's. */
function indentLines(text: string): string {
  return text.replace(/\s*[\r\n]\s*/g, '\n       ')
}

/**
 * Everything but a Failure is a fault of Backporch (BP9001).
 * @throws Interrupted
 */
export function convertToFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  if (thrown instanceof Interrupted) throw thrown
  if (thrown instanceof Failures) return thrown.failures[0]
  const why = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  return new Failure({
    code: 'BP9001',
    what: 'backporch stopped on a fault of its own',
    why,
    remedy: 'run again with --debug and report the output',
    cause: thrown,
  })
}

/** @throws anything but a Failure */
export function catchFailure<Value>(work: () => Value): Value | Failure {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}

/** 4 credentials or rights, 3 not observed, 2 everything else. */
export function getExitCode(code: FailureCode): 2 | 3 | 4 {
  if (code === 'BP3002' || code === 'BP3003' || code === 'BP4005' || code === 'BP5002') return 4
  if (code === 'BP3011' || code === 'BP3012' || code === 'BP3013' || code === 'BP3017') return 2
  return code.startsWith('BP30') ? 3 : 2
}
