/** Ignore rules: what is hidden from people, by which rule and why. Never hidden from `--show-ignored`. */
import { type FieldPath, isWithin, parseFieldPath } from '../krm/field-path.ts'
import type { ResourceId } from '../krm/resource-id.ts'
import { shownPathOnly } from '../krm/shown-path.ts'
import type { Drift } from './drift.ts'

/** Every part that is given must match; lists match when one of their members does. */
export interface IgnoreRule {
  /** Where it is written, for people: `.drift/policy.yaml:12`. */
  readonly where: string
  readonly target: Partial<ResourceId>
  /** Empty: every field, and the object as a whole. */
  readonly paths: readonly RulePath[]
  /** Empty: every manager. */
  readonly managers: readonly string[]
  readonly reason: string
  /** RFC 3339 date (`2026-12-31`), the last day on which the rule holds, UTC; undefined for ever. */
  readonly expires: string | undefined
}

export type RulePath = { readonly keyed: FieldPath } | { readonly pointer: readonly string[] }

/** Reads a rule's path: a JSON Pointer (RFC 6901) when it begins with `/`, a keyed field path otherwise. */
export function parseRulePath(text: string): RulePath | { readonly problem: string } {
  if (!text.startsWith('/')) {
    const parsed = parseFieldPath(text)
    return 'problem' in parsed ? parsed : { keyed: parsed.path }
  }
  const bad = /~(?![01])/.exec(text)
  if (bad !== null) return { problem: `"~" must be written "~0", and "/" "~1", at character ${bad.index + 1} of ${JSON.stringify(text)}` }
  return {
    pointer: text
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
  }
}

/** The first rule that hides the difference. `today` is the day of the observation, `YYYY-MM-DD`. */
export function ruleThatIgnores(drift: Drift, rules: readonly IgnoreRule[], today: string): IgnoreRule | undefined {
  return rules.find((rule) => isActive(rule, today) && whyNotIgnored(drift, rule) === undefined)
}

export function isActive(rule: IgnoreRule, today: string): boolean {
  return rule.expires === undefined || today <= rule.expires
}

/** Undefined when the rule hides the difference; otherwise which part of it does not match (`explain` prints it). */
export function whyNotIgnored(drift: Drift, rule: IgnoreRule): string | undefined {
  for (const part of ['group', 'kind', 'namespace', 'name'] as const) {
    const wanted = rule.target[part]
    if (wanted !== undefined && wanted !== drift.id[part]) return part
  }
  // A guess about who removed a field hides nothing.
  const named = drift.actor.confidence === 'field-manager' && rule.managers.includes(drift.actor.manager)
  if (rule.managers.length > 0 && !named) return 'manager'
  if (rule.paths.length > 0 && !rule.paths.some((path) => coversPath(path, drift.path))) return 'path'
  return undefined
}

function coversPath(rule: RulePath, path: FieldPath): boolean {
  if (path.length === 0) return false
  if ('keyed' in rule) return isWithin(path, rule.keyed)
  // A pointer names places by their order, which a keyed path does not have: it covers fields and atomic places only.
  return (
    rule.pointer.length <= path.length &&
    rule.pointer.every((part, index) => {
      const step = path[index]
      return step?.kind === 'field' ? step.name === part : step?.kind === 'index' && String(step.index) === part
    })
  )
}

export function describeRulePath(path: RulePath): string {
  return 'keyed' in path
    ? shownPathOnly(path.keyed)
    : path.pointer.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
