import { Failure } from '../../failure.ts'
import { policyOfUnit } from '../../plan/comment-policy.ts'
import { exactRules } from '../../plan/exact-rules.ts'
import type { Observation } from '../../plan/observation.ts'
import type { UnitPlan } from '../../plan/plan-reconcile.ts'
import { isSelector, selectChanges } from '../../plan/select-changes.ts'
import { type PolicyFile, parsePolicyFiles } from '../../policy/parse-policy.ts'
import { runTurn } from '../../reconcile/run-turn.ts'
import { formatInertDocument } from '../../record/write-document.ts'
import type { CommonOptions } from '../options.ts'
import { printNotes } from '../print-notes.ts'
import { withSession } from '../turn-session.ts'
import type { World } from '../world.ts'

export interface IgnoreOptions extends CommonOptions {
  readonly message?: string
  /** Last day. */
  readonly expires?: string
  /** Seconds from now. */
  readonly for?: number
  readonly print?: boolean
}

/** Prints the policy whose rules hide exactly the named lines of one package in one cluster; writes nothing. */
export async function ignore(
  name: string | undefined,
  selectors: readonly string[],
  options: IgnoreOptions,
  world: World,
): Promise<number> {
  const reason = reasonOf(options)
  const expires = lastDay(options, world.clock.now())
  const lead = name !== undefined && isSelector(name) ? [name] : []
  const packages = name === undefined || lead.length > 0 ? [] : [name]
  return withSession(
    world,
    options,
    packages,
    async ({ ports, request, progress }) => {
      const { units } = await runTurn(ports, { ...request, dryRun: true }, world.signal)
      progress.end()
      const [unit, ...others] = units
      if (unit === undefined || others.length > 0) throw notOne(units.length)
      if (unit.state === 'failed') throw unit.failures[0]
      const text = policyText(unit.observation, unit.plan, [...lead, ...selectors], reason, expires)
      world.stdout.write(text)
      if (options.quiet !== true) {
        const how = 'commit it to .drift/ for review, or add its rules to spec.ignore of a policy there'
        const text = `${how}${expires === undefined ? '; check warns of a rule without an end (--for 30d)' : ''}`
        printNotes([{ cause: 'rule-to-commit', subject: '', text }], options, world)
      }
      return 0
    },
    'not-asked',
  )
}

/** @throws Failure BP1011 where a selector names nothing, or nothing is open */
function policyText(seen: Observation, plan: UnitPlan, selectors: readonly string[], reason: string, expires: string | undefined): string {
  const { changes } = plan.report.spec
  const selected = selectChanges(selectors.length === 0 ? ['all'] : selectors, changes)
  const chosen = changes.filter(({ fingerprint }) => selected === undefined || selected.has(fingerprint))
  if (chosen.length === 0) throw nothingToIgnore(seen)
  const rules = exactRules({ chosen, verdicts: seen.verdicts, key: seen.key, reason, expires })
  const text = formatInertDocument(policyOfUnit(seen.unit, rules))
  // What is pasted is read again: it has to be read as what was proven.
  parsePolicyFiles([{ path: 'the printed policy', text } satisfies PolicyFile])
  return text
}

function reasonOf({ message, print }: IgnoreOptions): string {
  if (print !== true) {
    throw new Failure({
      code: 'BP1001',
      what: 'an ignore rule is written by a review, and not by this command',
      why: 'it hides drift from everybody',
      remedy: 'give --print, and commit what it prints; or comment /ignore on the pull request, which proposes it',
    })
  }
  if (message !== undefined && message.trim() !== '') return message.trim()
  throw new Failure({
    code: 'BP1001',
    what: 'the rule has no reason',
    why: 'whoever reads it later wants to know why it is there',
    remedy: 'give one: -m "KEDA scales the shop"',
  })
}

/** `--for 30d` counts from now. */
function lastDay({ expires, for: seconds }: IgnoreOptions, now: Date): string | undefined {
  if (seconds === undefined) return expires
  if (expires !== undefined)
    throw new Failure({
      code: 'BP1001',
      what: '--for and --expires were given',
      why: 'both say when the rule ends',
      remedy: 'leave one of them out',
    })
  return new Date(now.getTime() + seconds * 1_000).toISOString().slice(0, 10)
}

function notOne(count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: count === 0 ? 'there is no package to ignore anything of' : `${count} packages were looked at`,
    why: 'a rule is printed for one package in one cluster',
    remedy: 'name one package',
  })
}

function nothingToIgnore({ unit: { packageName } }: Observation): Failure {
  return new Failure({
    code: 'BP1011',
    what: `nothing of ${packageName} is to be ignored`,
    why: 'live agrees with git, or what differs is no drift already',
    remedy: 'backporch diff --show-ignored lists what is hidden, and by which rule',
  })
}
