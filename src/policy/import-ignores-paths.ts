/**
 * Only exact equivalents are translated, and the rest is answered with the reason, so that no rule
 * hides more than its original.
 */
import {
  createFieldStep,
  type FieldPath,
  formatFieldPath,
  type PathStep,
} from '@backporch/kyaml/field'
import { escapeGlob as literalText } from '@backporch/kyaml/text'
import { describeRulePath, formatLiteralRulePath, parseRulePath } from '../drift/noise/rule-path.ts'

export type Translated<Value> = { readonly value: Value } | { readonly problem: string }

/** The empty pointer names the whole object. */
export function translatePointer(pointer: string): Translated<string> {
  if (pointer === '') return { value: '' }
  if (!pointer.startsWith('/'))
    return { problem: 'it is not a JSON Pointer: it does not begin with /' }
  const parsed = parseRulePath(pointer)
  if ('problem' in parsed) return { problem: parsed.problem }
  const parts = 'pointer' in parsed ? parsed.pointer : []
  if (parts.some((part) => part === '-' || /^\d+$/.test(part))) {
    return {
      problem: 'it names a list item by its index, and a rule here names items by their keys',
    }
  }
  return parts.every((part) => part !== '')
    ? { value: describeRulePath({ pointer: parts.map(literalText) }) }
    : { problem: 'it has an empty step' }
}

const FIELD = /\.([A-Za-z_][A-Za-z0-9_]*)\??|\.?\["([^"\\]*)"\]\??/y
const SELECTED =
  /\.?\[\]\??\s*\|\s*select\(\s*\.name\s*==\s*"([^"\\]*)"\s*\)\s*(?:\|\s*(?=\.)|(?=\.)|$)/y
const EVERY = /\.?\[\]\??(?=[.[]|$)/y
const BY_NAME = new Set([
  'containers',
  'initContainers',
  'ephemeralContainers',
  'env',
  'volumes',
  'imagePullSecrets',
  'webhooks',
])
const WITH_SUCH_LISTS = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'Pod',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
])

/**
 * `[] | select(.name == "x")` only if the items of the list are identified by name.
 * @param kind that the rule is for; empty for any
 */
export function translateJqPath(expression: string, kind: string): Translated<string> {
  const text = expression.trim()
  const steps: PathStep[] = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  while (at < text.length) {
    const name = next(FIELD)
    if (name !== null) {
      steps.push(createFieldStep(name[1] ?? name[2] ?? ''))
      continue
    }
    if (steps.length > 0 && next(EVERY) !== null) {
      steps.push({ kind: 'item', keys: {} })
      continue
    }
    const selected = next(SELECTED)
    if (selected === null) return { problem: explainNotPlain(text.slice(at)) }
    const list = steps.at(-1)
    if (list?.kind !== 'field' || !BY_NAME.has(list.name) || !WITH_SUCH_LISTS.has(kind)) {
      return {
        problem: 'cannot tell whether this list is keyed by name for the kind that the rule names',
      }
    }
    steps.push({ kind: 'item', keys: { name: selected[1] ?? '' } })
  }
  return steps.length === 0 ? { problem: 'it names the whole object' } : translateSteps(steps)
}

function explainNotPlain(rest: string): string {
  if (/^\.?\[-?\d+\]/.test(rest))
    return 'it names a list item by its index, and a rule here names items by their keys'
  return 'it is more than a path: only field names, and select(.name == "…") in lists keyed by name, are translated'
}

function translateSteps(steps: FieldPath): Translated<string> {
  const text = formatLiteralRulePath(steps)
  const parsed = text.startsWith('/') ? { problem: '' } : parseRulePath(text)
  return 'keyed' in parsed && formatFieldPath(parsed.keyed) === text
    ? { value: text }
    : { problem: 'its names cannot be written as a path here' }
}

const MOST_ALTERNATIVES = 8

/**
 * The expression matches the whole text (Flux: `^(?:…)$`); undefined for any text.
 * @param dots a bare dot matches itself: names of API groups have no other character there
 */
export function translateLiteralTexts(
  pattern: string,
  dots: boolean,
): Translated<readonly string[] | undefined> {
  const bare = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/^\((?:\?:)?([^()]*)\)$/, '$1')
  if (bare === '' || bare === '.*') return { value: undefined }
  const parts = bare.split('|').map((part) => translatePattern(part, dots))
  if (parts.length > MOST_ALTERNATIVES || parts.includes(undefined)) {
    return { problem: 'its target is a regular expression that no pattern here expresses exactly' }
  }
  return { value: [...new Set(parts.flatMap((part) => part ?? []))] }
}

function translatePattern(part: string, dots: boolean): string | undefined {
  const signs = [...part.matchAll(/\.\*|\\\.|[\s\S]/g)].map(([sign]) => {
    if (sign === '.*') return '*'
    if (sign === '\\.' || (sign === '.' && dots)) return '.'
    return /^[A-Za-z0-9-]$/.test(sign) ? sign : undefined
  })
  return signs.length === 0 || signs.includes(undefined) ? undefined : signs.join('')
}

export function translateGlob(glob: string): Translated<string | undefined> {
  if (glob === '*') return { value: undefined }
  if (/[?[\]{}\\!]/.test(glob))
    return { problem: 'its target is a pattern with other wildcards than *' }
  return { value: glob }
}
