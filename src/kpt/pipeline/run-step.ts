/**
 * kyaml 0.15 `fn/runtime/runtimeutil/runtimeutil.go` and `kio/kio.go`, kpt
 * `internal/fnruntime/runner.go`.
 */
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import {
  copyLostComments,
  copyNode,
  findTextAt,
  syncKeyOrder,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import {
  clearAnnotation,
  copyLegacyAnnotations,
  findAnnotation,
  findAnnotationMismatch,
  getItemFile,
  ID,
  INDEX,
  LEGACY_ID,
  LEGACY_INDEX,
  LEGACY_PATH,
  MIGRATION_ID,
  PACKAGE_PATH,
  PATH,
  setAnnotation,
} from '../function/item-annotations.ts'
import type { FunctionOutput } from '../function/krm-function.ts'
import {
  describeStep,
  type FailedAnswer,
  getFunctionName,
  type PipelineStep,
  type RenderProcess,
} from '../function/pipeline-step.ts'
import { FUNCTION_TEXT } from '../function/resource-list.ts'
import { goClean } from '../package/clean-path.ts'
import { findKrmProblem } from './krm-check.ts'

export class StepRefused extends Error {
  readonly failure: Failure
  readonly refusalOf: NonNullable<FailedAnswer['refusalOf']>

  constructor(failure: Failure, refusalOf: StepRefused['refusalOf']) {
    super(failure.message)
    this.failure = failure
    this.refusalOf = refusalOf
  }
}

/** @throws Failure BP1202 or BP1204 in kpt's words, StepRefused, or the failure of the call */
export function* runStep(
  step: PipelineStep,
  items: readonly YamlMap[],
  config: YamlMap | undefined,
  onReplaced: (from: YamlMap, to: YamlMap) => void = () => undefined,
): RenderProcess<FunctionOutput> {
  const locations = prepare(step, items)
  // As among the resources, with this step's annotations.
  const answer = yield {
    step,
    input: { items, config: config === undefined ? undefined : copyNode(config) },
  }
  if ('failure' in answer)
    throw answer.refusalOf === undefined
      ? answer.failure
      : new StepRefused(answer.failure, answer.refusalOf)
  if (answer.exitCode !== 0) throw createFunctionFailure(step, answer)
  const output = [...answer.items]
  // Without output the whole package would be deleted, including its Kptfile (measured with kpt
  // 1.0.0-beta.56).
  const narrowed = step.function.selectors.length > 0 || step.function.exclude.length > 0
  if (output.length === 0 && items.length > 0 && step.list === 'mutators' && !narrowed)
    throw createBadOutputFailure(step, 'the function returned no resources')
  finish(step, output, {
    byId: new Map(items.map((item, index) => [String(index + 1), item])),
    folder: getConfigFolder(config),
    onReplaced,
  })
  reconcile(step, output, locations)
  return { ...answer, items: output }
}

interface Location {
  readonly path: string
  readonly index: string
}

function prepare(step: PipelineStep, items: readonly YamlMap[]): ReadonlyMap<string, Location> {
  const locations = new Map<string, Location>()
  for (const [number, item] of items.entries()) {
    setAnnotation(item, MIGRATION_ID, String(number))
    copyLegacyAnnotations(item)
    const different = findAnnotationMismatch(item)
    if (different !== undefined) throw createBadOutputFailure(step, different)
    locations.set(String(number), getItemFile(item))
  }
  const problem = findKrmProblem(items)
  if (problem !== undefined) throw createBadOutputFailure(step, problem)
  for (const [number, item] of items.entries()) {
    setAnnotation(item, ID, String(number + 1))
    setAnnotation(item, LEGACY_ID, String(number + 1))
  }
  return locations
}

/** kyaml puts created resources next to the function's config. */
function getConfigFolder(config: YamlMap | undefined): string {
  const path = config === undefined ? '' : getItemFile(config).path
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  // kyaml `runtimeutil.go`, `functionsDirectoryName`.
  return folder === 'functions' || folder.endsWith('/functions')
    ? folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
    : folder
}

interface StepInput {
  readonly byId: ReadonlyMap<string, YamlMap>
  readonly folder: string
  readonly onReplaced: (from: YamlMap, to: YamlMap) => void
}

function finish(
  step: PipelineStep,
  output: readonly YamlMap[],
  { byId, folder, onReplaced }: StepInput,
): void {
  for (const item of output) {
    const id = findAnnotation(item, ID) ?? findAnnotation(item, LEGACY_ID)
    const from = id === undefined ? undefined : byId.get(id)
    // A node from a function's text has no location in the package.
    if (from !== item && item.source?.path === FUNCTION_TEXT) {
      item.source = from?.source
      item.writes = from?.writes
    }
    if (from === item) unfold(item)
    else if (from !== undefined) {
      onReplaced(from, item)
      copyLostComments(from, item)
      syncKeyOrder(from, item)
    }
    clearAnnotation(item, ID)
    clearAnnotation(item, LEGACY_ID)
    copyLegacyAnnotations(item)
    if (findAnnotation(item, PATH) === undefined) {
      const path = deriveDefaultPath(item, folder)
      setAnnotation(item, PATH, path)
      setAnnotation(item, LEGACY_PATH, path)
    }
    if ((findAnnotation(item, PACKAGE_PATH) ?? '') === '')
      setAnnotation(item, PACKAGE_PATH, `/${step.folder}`)
  }
  checkLocations(step, output)
  const problem = findKrmProblem(output)
  if (problem !== undefined) throw createBadOutputFailure(step, problem.replace(/^input/, 'output'))
}

/** kyaml's only effect on a tree that a function changed in place. */
function unfold(node: YamlNode): void {
  if (node.kind === 'scalar' && node.style === 'folded') node.style = 'double'
  else if (node.kind === 'list') for (const item of node.items) unfold(item)
  else if (node.kind === 'map')
    for (const { key, value } of node.entries) {
      if (key.kind !== 'scalar' || key.style === 'folded') unfold(key)
      unfold(value)
    }
}

/** kyaml `kioutil.CreatePathAnnotationValue`. */
function deriveDefaultPath(item: YamlMap, folder: string): string {
  const namespace = findTextAt(item, 'metadata', 'namespace') ?? ''
  const file = `${(findTextAt(item, 'kind') ?? '').toLowerCase()}_${findTextAt(item, 'metadata', 'name') ?? ''}.yaml`
  return [folder, namespace, file].filter((part) => part !== '').join('/')
}

function checkLocations(step: PipelineStep, output: readonly YamlMap[]): void {
  const taken = new Set<string>()
  for (const item of output) {
    const { path, index } = getItemFile(item)
    const clean = goClean(path)
    if (clean.startsWith('../'))
      throw createBadOutputFailure(
        step,
        `function must not modify resources outside of package: resource has path ${path}`,
      )
    const location = JSON.stringify([findAnnotation(item, PACKAGE_PATH), clean, index])
    if (taken.has(location))
      throw createBadOutputFailure(
        step,
        `resource at path ${JSON.stringify(clean)} and index ${JSON.stringify(index)} already exists`,
      )
    taken.add(location)
  }
}

/** The other form of a changed annotation follows. */
function reconcile(
  step: PipelineStep,
  output: readonly YamlMap[],
  locations: ReadonlyMap<string, Location>,
): void {
  for (const item of output) {
    copyLegacyAnnotations(item)
    const was = locations.get(findAnnotation(item, MIGRATION_ID) ?? '')
    if (was !== undefined) {
      followChange(item, was.path || undefined, PATH, LEGACY_PATH)
      followChange(item, was.index || undefined, INDEX, LEGACY_INDEX)
    }
    const different = findAnnotationMismatch(item)
    if (different !== undefined) throw createBadOutputFailure(step, different)
    clearAnnotation(item, MIGRATION_ID)
  }
}

function followChange(item: YamlMap, was: string | undefined, own: string, legacy: string): void {
  if (was === undefined) return
  const [newer, older] = [findAnnotation(item, own) ?? '', findAnnotation(item, legacy) ?? '']
  if (newer === older) return
  if (newer !== was && older === was) setAnnotation(item, legacy, newer)
  else if (older !== was && newer === was) setAnnotation(item, own, older)
}

function createFunctionFailure(
  step: PipelineStep,
  { results, stderr, exitCode }: FunctionOutput,
): Failure {
  const errors = results.filter(({ severity }) => severity === 'error')
  const [first] = errors
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  const text =
    first === undefined
      ? getFirstLine(stderr)
      : `${formatResultSubject(first)}${first.message}${more}`
  return new Failure({
    code: 'BP1202',
    what: `the function ${getFunctionName(step.function)} failed`,
    where: describeStep(step),
    why: text === '' ? `it ended with exit code ${exitCode}` : text,
    remedy: 'correct the named resource or the config of the function, and commit',
    retry: 'on-change',
  })
}

function formatResultSubject({ resourceRef, field }: FunctionOutput['results'][number]): string {
  const name = [resourceRef?.kind, resourceRef?.namespace, resourceRef?.name]
    .filter((part) => part !== undefined && part !== '')
    .join('/')
  const subject = [name, field?.path ?? ''].filter((part) => part !== '').join(' ')
  return subject === '' ? '' : `${subject}: `
}

function getFirstLine(text: string): string {
  return formatForeignLine(text.trim().split('\n')[0] ?? '', { limit: 400 })
}

export function createBadOutputFailure(step: PipelineStep, why: string): Failure {
  return new Failure({
    code: 'BP1204',
    what: `the input or output of the function ${getFunctionName(step.function)} is not a package`,
    where: describeStep(step),
    why,
    remedy: 'correct the resource that it names, or remove the function from the pipeline',
    retry: 'on-change',
  })
}
