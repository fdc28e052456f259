import {
  type FunctionAnswer,
  type FunctionOutput,
  findAnnotation,
  ID,
  LEGACY_ID,
  type PipelineStep,
  readFunctionOutput,
} from '@backporch/kpt/function'
import { convertToFailure, type Failure, type FailureDetail } from '@backporch/kyaml/failure'
import { formatCanonicalJson } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findTextAt,
  listItemsAt,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { createLimitFailure, createNotPackageFailure } from './function-failures.ts'
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
    return { failure: createNotPackageFailure(step, 'it printed nothing') }
  const read = readPrinted(stdout)
  if (exitCode !== 0)
    return { results: [], ...('why' in read ? {} : read), items: [], stderr, exitCode }
  if ('why' in read)
    return { failure: createNotPackageFailure(step, `standard output: ${read.why}`) }
  if (read.items.length > objects)
    return {
      failure: createLimitFailure(
        step,
        '',
        `it returned ${read.items.length} objects, and the limit is ${objects}`,
      ),
    }
  const byId = new Map(given.map((item) => [findAnnotation(item, ID), item]))
  for (const item of read.items) {
    forgetSources(item)
    const from = byId.get(findAnnotation(item, ID) ?? findAnnotation(item, LEGACY_ID))
    if (from !== undefined) copyOrigin(item, from)
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

function copyOrigin(item: YamlMap, from: YamlMap): void {
  item.source = from.source
  item.writes = from.writes
  const earlier = listItemsAt(from, 'items')
  for (const [index, below] of listItemsAt(item, 'items').entries())
    below.source = earlier[index]?.source
}

function readPrinted(
  stdout: string,
): Pick<FunctionOutput, 'items' | 'results'> | { readonly why: string } {
  try {
    return readFunctionOutput(stdout, 'standard output')
  } catch (thrown) {
    return { why: explainFailure(convertToFailure(thrown)) }
  }
}

function explainFailure({ code, what, why }: Failure): string {
  return code === 'BP9001' ? 'it cannot be read' : `${what}: ${why}`
}

/** Differences in map order or remarks do not count. */
export function isSameOutput(one: PrintedOutput, other: PrintedOutput): boolean {
  if (one.exitCode !== other.exitCode) return false
  if (one.exitCode !== 0 || one.stdout === other.stdout) return true
  const [left, right] = [formatPrintedObjects(one), formatPrintedObjects(other)]
  return left !== undefined && left === right
}

function formatPrintedObjects({ stdout }: PrintedOutput): string | undefined {
  const read = readPrinted(stdout)
  return 'why' in read
    ? undefined
    : formatCanonicalJson(read.items.map((item) => convertYamlToJson(item)))
}

interface ObjectName {
  readonly kind: string
  readonly namespace: string
}

export function mapNamesById(items: readonly YamlMap[]): ReadonlyMap<string, ObjectName> {
  return new Map(items.map((item) => [findAnnotation(item, ID) ?? '', getName(item)]))
}

/**
 * Not failures, because an allowed function may change identities, as set-namespace does; but the
 * files do not show it.
 */
export function listIdentityRemarks(
  before: ReadonlyMap<string, ObjectName>,
  items: readonly YamlMap[],
): readonly string[] {
  const counts = { kind: 0, namespace: 0, created: 0 }
  for (const item of items) {
    const was = before.get(findAnnotation(item, ID) ?? findAnnotation(item, LEGACY_ID) ?? '')
    const is = getName(item)
    if (was === undefined) counts.created += 1
    else if (was.kind !== is.kind) counts.kind += 1
    else if (was.namespace !== is.namespace) counts.namespace += 1
  }
  return [
    ...(counts.kind === 0 ? [] : [`changed the kind of ${formatObjectCount(counts.kind)}`]),
    ...(counts.namespace === 0
      ? []
      : [`changed the namespace of ${formatObjectCount(counts.namespace)}`]),
    ...(counts.created === 0 ? [] : [`made ${formatObjectCount(counts.created)}`]),
  ]
}

function getName(item: YamlMap): ObjectName {
  return {
    kind: `${findTextAt(item, 'apiVersion') ?? ''} ${findTextAt(item, 'kind') ?? ''}`,
    namespace: findTextAt(item, 'metadata', 'namespace') ?? '',
  }
}

function formatObjectCount(number: number): string {
  return number === 1 ? 'one object' : `${number} objects`
}
