import {
  annotationOf,
  type FunctionAnswer,
  type FunctionOutput,
  ID,
  LEGACY_ID,
  type PipelineStep,
  readFunctionOutput,
} from '@backporch/kpt/function'
import { asFailure, type Failure, type FailureDetail } from '@backporch/kyaml/failure'
import { canonicalJson } from '@backporch/kyaml/json'
import { itemsAt, jsonOf, textAt, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'
import { brokeLimit, notAPackage } from './function-failures.ts'
import type { FunctionLimits } from './function-limits.ts'

export interface PrintedOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Text, so that nothing changes it in place. */
export type ForeignAnswer = PrintedOutput | { readonly failure: FailureDetail }

/**
 * As in kpt, only the results of a failed function count. An input object keeps its location.
 * @param given input objects
 */
export function readForeignOutput(
  step: PipelineStep,
  given: readonly YamlMap[],
  { stdout, stderr, exitCode }: PrintedOutput,
  { objects }: Pick<FunctionLimits, 'objects'>,
): FunctionAnswer {
  if (stdout.trim() === '' && exitCode === 0)
    return { failure: notAPackage(step, 'it printed nothing') }
  const read = readPrinted(stdout)
  if (exitCode !== 0)
    return { results: [], ...('why' in read ? {} : read), items: [], stderr, exitCode }
  if ('why' in read) return { failure: notAPackage(step, `standard output: ${read.why}`) }
  if (read.items.length > objects)
    return {
      failure: brokeLimit(
        step,
        '',
        `it gave back ${read.items.length} objects, and at most ${objects} are taken`,
      ),
    }
  const byId = new Map(given.map((item) => [annotationOf(item, ID), item]))
  for (const item of read.items) {
    forgetSources(item)
    const from = byId.get(annotationOf(item, ID) ?? annotationOf(item, LEGACY_ID))
    if (from !== undefined) comeFrom(item, from)
  }
  return { ...read, stderr, exitCode }
}

/** The sources are positions in a text that is not kept. */
function forgetSources(node: YamlNode): void {
  node.source = undefined
  if (node.kind === 'list') for (const item of node.items) forgetSources(item)
  else if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      forgetSources(key)
      forgetSources(value)
    }
}

function comeFrom(item: YamlMap, from: YamlMap): void {
  item.source = from.source
  item.writes = from.writes
  const earlier = itemsAt(from, 'items')
  for (const [index, below] of itemsAt(item, 'items').entries())
    below.source = earlier[index]?.source
}

function readPrinted(
  stdout: string,
): Pick<FunctionOutput, 'items' | 'results'> | { readonly why: string } {
  try {
    return readFunctionOutput(stdout, 'standard output')
  } catch (thrown) {
    return { why: whyOf(asFailure(thrown)) }
  }
}

function whyOf({ code, what, why }: Failure): string {
  return code === 'BP9001' ? 'it cannot be read' : `${what}: ${why}`
}

/** Differences in map order or remarks do not count. */
export function isSameOutput(one: PrintedOutput, other: PrintedOutput): boolean {
  if (one.exitCode !== other.exitCode) return false
  if (one.exitCode !== 0 || one.stdout === other.stdout) return true
  const [left, right] = [objectsIn(one), objectsIn(other)]
  return left !== undefined && left === right
}

function objectsIn({ stdout }: PrintedOutput): string | undefined {
  const read = readPrinted(stdout)
  return 'why' in read ? undefined : canonicalJson(read.items.map((item) => jsonOf(item)))
}

interface ObjectName {
  readonly kind: string
  readonly namespace: string
}

export function namesById(items: readonly YamlMap[]): ReadonlyMap<string, ObjectName> {
  return new Map(items.map((item) => [annotationOf(item, ID) ?? '', nameOf(item)]))
}

/**
 * Not failures, because an allowed function may change identities, as set-namespace does; but the
 * files do not show it.
 */
export function identityRemarks(
  before: ReadonlyMap<string, ObjectName>,
  items: readonly YamlMap[],
): readonly string[] {
  const counts = { kind: 0, namespace: 0, created: 0 }
  for (const item of items) {
    const was = before.get(annotationOf(item, ID) ?? annotationOf(item, LEGACY_ID) ?? '')
    const is = nameOf(item)
    if (was === undefined) counts.created += 1
    else if (was.kind !== is.kind) counts.kind += 1
    else if (was.namespace !== is.namespace) counts.namespace += 1
  }
  return [
    ...(counts.kind === 0 ? [] : [`changed the kind of ${counted(counts.kind)}`]),
    ...(counts.namespace === 0 ? [] : [`changed the namespace of ${counted(counts.namespace)}`]),
    ...(counts.created === 0 ? [] : [`made ${counted(counts.created)}`]),
  ]
}

function nameOf(item: YamlMap): ObjectName {
  return {
    kind: `${textAt(item, 'apiVersion') ?? ''} ${textAt(item, 'kind') ?? ''}`,
    namespace: textAt(item, 'metadata', 'namespace') ?? '',
  }
}

function counted(number: number): string {
  return number === 1 ? 'one object' : `${number} objects`
}
