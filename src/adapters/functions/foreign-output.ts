/** The output of a program or an image as the answer of a function, with remarks for people. */
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

/** In threads and in the cache it is text, so that nobody changes it in place. */
export type ForeignAnswer = PrintedOutput | { readonly failure: FailureDetail }

/**
 * As kpt does: of a failed function's output only the results count. An object of the input keeps its location in the files.
 * @param given the objects that the function got
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

/** They are places in a text that nobody has. */
function forgetSources(node: YamlNode): void {
  node.source = undefined
  if (node.kind === 'list') for (const item of node.items) forgetSources(item)
  else if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      forgetSources(key)
      forgetSources(value)
    }
}

/** The object, or the objects of a list of objects. */
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

/** Two runs gave the same objects in the same order. Another order of a map or another remark is the same package. */
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

/** The objects before a foreign function runs, by the id that they carry through it. */
export function namesById(items: readonly YamlMap[]): ReadonlyMap<string, ObjectName> {
  return new Map(items.map((item) => [annotationOf(item, ID) ?? '', nameOf(item)]))
}

/**
 * Changes of the function to the identity of objects. They are no failure, because an allowed function may make them, as set-namespace does;
 * but nobody sees them in the package's files.
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
