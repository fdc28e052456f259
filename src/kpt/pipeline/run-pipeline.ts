/**
 * Subpackages first, then mutators, then validators on copies (kpt
 * `internal/util/render/executor.go`, as of 1.0.0-beta.56; docs/facts/kpt-render.md).
 */
import { Failure, Failures } from '@backporch/kyaml/failure'
import { copyNode, createYamlMap, createYamlText, type YamlMap } from '@backporch/kyaml/yaml'
import { createNotAnObjectFailure } from '../desired/desired-set-builder.ts'
import {
  clearAnnotation,
  findAnnotation,
  getItemFile,
  LEGACY_PATH,
  PACKAGE_PATH,
  PATH,
  setAnnotation,
} from '../function/item-annotations.ts'
import type { PipelineStep, RenderProcess, StepRun } from '../function/pipeline-step.ts'
import { cleanPath, goClean } from '../package/clean-path.ts'
import type { PipelineFunction } from '../package/kptfile-value.ts'
import { PACKAGE_FILE } from '../package/walk-package.ts'
import { findKrmProblem } from './krm-check.ts'
import { getPackageFolder, type PipelinePackage } from './pipeline-package.ts'
import { runStep, StepRefused } from './run-step.ts'
import { mergeItems, selectItems, setResourceIds } from './select-items.ts'

/** Before the first function and after each mutator; `items` of the running package. */
export interface RenderWatcher {
  startRun(items: readonly YamlMap[]): void
  startStep(step: PipelineStep): void
  handleReplacement(from: YamlMap, to: YamlMap): void
  handleMutation(run: StepRun, items: readonly YamlMap[]): void
}

export interface PipelineRun {
  /** Subpackages first; paths from the outermost package. */
  readonly items: readonly YamlMap[]
  readonly runs: readonly StepRun[]
  /** kpt removes those to which no resource is written. */
  readonly read: ReadonlySet<string>
}

/**
 * @param packagePath from the repository root
 * @throws Failure BP12xx of the first failing function; nothing is then written, like in kpt. For a
 * function that nothing may run: failures of all such functions, so that the operator can allow all
 * in one round
 */
export function* runPipeline(
  root: PipelinePackage,
  packagePath: string,
  watcher?: RenderWatcher,
): RenderProcess<PipelineRun> {
  const runs: StepRun[] = []
  const read = new Set(listPaths(root))
  const items = yield* new PackageRender(packagePath, runs, watcher).renderAll(root)
  for (const item of items) {
    const folder = getPackageFolder(findAnnotation(item, PACKAGE_PATH) ?? '')
    const path = resolveWrittenPath(folder, getItemFile(item).path)
    setAnnotation(item, PATH, path)
    setAnnotation(item, LEGACY_PATH, path)
    clearAnnotation(item, PACKAGE_PATH)
  }
  return { items, runs, read }
}

function listPaths({ folder, items, subpackages }: PipelinePackage): readonly string[] {
  const own = items.map((item) =>
    folder === '' ? getItemFile(item).path : `${folder}/${getItemFile(item).path}`,
  )
  return [...own, ...subpackages.flatMap(listPaths)]
}

/** Go's `filepath.Join`, because a function may have set the path. */
function resolveWrittenPath(folder: string, path: string): string {
  const joined = goClean([folder, path].filter((part) => part !== '').join('/')).replace(/^\/+/, '')
  if (joined !== '.' && joined !== '..' && !joined.startsWith('../')) return joined
  throw new Failure({
    code: 'BP1204',
    what: 'the output of the pipeline is not a package',
    why: `resource must be written under package: ${path}`,
    remedy: 'correct the function that sets the path of the resource',
    retry: 'on-change',
  })
}

class PackageRender {
  private readonly packagePath: string
  private readonly runs: StepRun[]
  private readonly watcher: RenderWatcher | undefined

  constructor(packagePath: string, runs: StepRun[], watcher: RenderWatcher | undefined) {
    this.packagePath = packagePath
    this.runs = runs
    this.watcher = watcher
  }

  *renderAll(root: PipelinePackage): RenderProcess<readonly YamlMap[]> {
    try {
      return yield* this.render(root)
    } catch (thrown) {
      if (!(thrown instanceof StepRefused)) throw thrown
      const refused = this.listMutators(root).flatMap((step) => thrown.refusalOf(step) ?? [])
      throw new Failures([refused[0] ?? thrown.failure, ...refused.slice(1)])
    }
  }

  private listMutators(own: PipelinePackage): readonly PipelineStep[] {
    const steps = own.kptfile.pipeline.mutators.map((each, index) =>
      this.step(own, 'mutators', index, each),
    )
    return [...own.subpackages.flatMap((below) => this.listMutators(below)), ...steps]
  }

  private *render(own: PipelinePackage): RenderProcess<readonly YamlMap[]> {
    const input: YamlMap[] = []
    for (const below of own.subpackages) input.push(...(yield* this.render(below)))
    input.push(...own.items)
    this.watcher?.startRun(own.items)
    const { mutators, validators } = own.kptfile.pipeline
    if (mutators.length + validators.length === 0) {
      const problem = findKrmProblem(input)
      if (problem !== undefined) throw createNotAnObjectFailure(this.getKptfilePath(own), problem)
      return input
    }
    const output = yield* this.mutate(own, input)
    yield* this.validate(own, output)
    return output
  }

  private *mutate(
    own: PipelinePackage,
    input: readonly YamlMap[],
  ): RenderProcess<readonly YamlMap[]> {
    let items = input
    for (const [index, each] of own.kptfile.pipeline.mutators.entries()) {
      const narrowed = each.selectors.length > 0 || each.exclude.length > 0
      if (narrowed) setResourceIds(items)
      const selected = selectItems(items, each.selectors, each.exclude)
      const step = this.step(own, 'mutators', index, each)
      const config = findConfig(own, 'mutators', each, items)
      this.watcher?.startStep(step)
      const output = yield* runStep(step, selected, config, (from, to) =>
        this.watcher?.handleReplacement(from, to),
      )
      for (const item of output.items) if (item.source === undefined) item.writes ??= [step.number]
      items = narrowed ? mergeItems(output.items, selected, items) : output.items
      const run = {
        step,
        config: config === undefined ? undefined : copyNode(config),
        results: output.results,
        stderr: output.stderr,
      }
      this.runs.push(run)
      this.watcher?.handleMutation(run, items)
    }
    return items
  }

  private *validate(own: PipelinePackage, items: readonly YamlMap[]): RenderProcess<void> {
    for (const [index, each] of own.kptfile.pipeline.validators.entries()) {
      const selected = selectItems(items, each.selectors, each.exclude)
      const step = this.step(own, 'validators', index, each)
      const config = findConfig(own, 'validators', each, items)
      const { results, stderr } = yield* runStep(step, selected.map(copyNode), config)
      this.runs.push({ step, config, results, stderr })
    }
  }

  private step(
    own: PipelinePackage,
    list: PipelineStep['list'],
    index: number,
    each: PipelineFunction,
  ): PipelineStep {
    return {
      number: this.runs.length,
      folder: own.folder,
      list,
      index,
      function: each,
      kptfile: this.getKptfilePath(own),
    }
  }

  private getKptfilePath({ folder }: PipelinePackage): string {
    return [this.packagePath, folder, PACKAGE_FILE].filter((part) => part !== '').join('/')
  }
}

/**
 * A mutator gets the resource of its `configPath` after the earlier functions, or the file's
 * version if none has that path. A validator gets the file's version.
 */
function findConfig(
  own: PipelinePackage,
  list: PipelineStep['list'],
  each: PipelineFunction,
  items: readonly YamlMap[],
): YamlMap | undefined {
  if (each.configPath !== undefined) {
    const isConfig = (item: YamlMap): boolean =>
      findAnnotation(item, PACKAGE_PATH) === `/${own.folder}` &&
      getItemFile(item).path === each.configPath
    const live = list === 'mutators' ? items.find(isConfig) : undefined
    const found = live ?? own.configs.get(cleanPath(each.configPath))
    return found
  }
  if (each.configMap.size === 0) return undefined
  const data = [...each.configMap].sort(([one], [other]) => (one < other ? -1 : 1))
  return createYamlMap([
    ['apiVersion', createYamlText('v1')],
    ['kind', createYamlText('ConfigMap')],
    ['metadata', createYamlMap([['name', createYamlText('function-input')]])],
    // upsert-resource adds the config to the resources in this style.
    [
      'data',
      { ...createYamlMap(data.map(([key, value]) => [key, createYamlText(value)])), style: 'flow' },
    ],
  ])
}
