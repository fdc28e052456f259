/**
 * The edit of `backporch adopt`, for other pipelines. Adopt (src/sources/kpt/adopt) finds the
 * location and proves that nothing else changes.
 */
import {
  answerCalls,
  createFailedOutput,
  createSuccess,
  type FunctionLibrary,
  type FunctionOutput,
  type FunctionResult,
  findAnnotation,
  type KrmFunction,
  PACKAGE_PATH,
  type PipelineStep,
} from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { changeResult } from '../../record/change-result.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { readDrift } from '../../record/read-tree.ts'
import { findPossible, MOST_ATTEMPTS } from '../../sources/edits/possible-changes.ts'
import { type Adopted, adoptThroughPipeline } from '../../sources/kpt/adopt/adoption.ts'
import { renderPackage } from '../../sources/kpt/render/render-package.ts'
import { type ChosenChange, chooseChanges, type RefusedChange } from './choose-changes.ts'
import { PackageItems } from './package-items.ts'

/** They do not change a package's rendering. */
const OWN = /(?:^|\/)(?:adopt-drift|gate-drift|verify-drift-records)(?:\/run\.ts)?(?:[:@].*)?$/

/** Tried singly to find the rejected ones. */
const MOST_TRIED = 20
const NOT_TRIED = `${MOST_ATTEMPTS} attempts did not say whether it is possible: pass a report with fewer changes`
const PLAIN_PATH = /^[\w.-][\w./-]{0,250}$/

/** @param library a parameter, because the library of built-in functions contains this function */
export function adoptDrift(library: FunctionLibrary): KrmFunction {
  const functions = passOwnCalls(library)
  return ({ items, config }) => {
    const read = readDrift(config)
    if (read === undefined)
      return createFailedOutput(
        items,
        'functionConfig is not a DriftReport or DriftRecord of backporch.dev/v1alpha1',
      )
    if ('problems' in read) {
      const results = read.problems.map(({ path, message }): FunctionResult => {
        return {
          message: `functionConfig: ${message}`,
          severity: 'error',
          ...(path === undefined ? {} : { field: { path } }),
        }
      })
      return { items, results, exitCode: 1, stderr: '' }
    }
    try {
      return new Adopting(items, read.value, functions).run()
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return createFailedOutput(items, formatFailure(thrown))
    }
  }
}

class Adopting {
  private readonly items: readonly YamlMap[]
  private readonly drift: DriftReport | DriftRecord
  private readonly functions: FunctionLibrary
  private readonly own: PackageItems
  private readonly packagePath: string
  private readonly files: PackageFiles

  constructor(
    items: readonly YamlMap[],
    drift: DriftReport | DriftRecord,
    functions: FunctionLibrary,
  ) {
    this.items = items
    this.drift = drift
    this.functions = functions
    const path = drift.spec.unit.package
    this.own = new PackageItems(items, path)
    // In a package that is the whole repository, `.drift/` would not be read.
    this.packagePath = PLAIN_PATH.test(path) ? path : 'package'
    this.files = this.own.listFiles()
  }

  run(): FunctionOutput {
    const rendering = answerCalls(renderPackage(this.packagePath, this.files), this.functions)
    if ('failures' in rendering) {
      const results = rendering.failures.map(
        (failure): FunctionResult => ({ message: formatFailure(failure), severity: 'error' }),
      )
      return { items: this.items, results, exitCode: 1, stderr: '' }
    }
    const { chosen, refused } = chooseChanges(this.drift, rendering.desired.resources)
    if (this.drift.kind === 'DriftRecord')
      return refused.length > 0 ? this.stop(refused) : this.writeAll(chosen)
    return this.writeWhatCan(chosen, refused)
  }

  /** A person decided exactly these: all or none. */
  private writeAll(chosen: readonly ChosenChange[]): FunctionOutput {
    const edited = this.edit(chosen)
    return edited instanceof Failure
      ? this.stop(this.listReasons(chosen), edited)
      : this.finish(edited, chosen, [])
  }

  private writeWhatCan(
    chosen: readonly ChosenChange[],
    refused: readonly RefusedChange[],
  ): FunctionOutput {
    const together = this.edit(chosen)
    if (!(together instanceof Failure)) return this.finish(together, chosen, refused)
    const changes = chosen.map((each) => ({ ...each, drift: each.resolved.drift }))
    const found = findPossible(changes, together, (some) => {
      const edited = this.edit(some)
      return edited instanceof Failure ? edited : undefined
    })
    const all = [
      ...refused,
      ...[...found.refused].map(([{ change }, failure]) => ({
        change,
        why: formatReason(failure),
      })),
      ...found.untried.map(({ change }) => ({ change, why: NOT_TRIED })),
    ]
    const edited = this.edit(found.possible)
    return edited instanceof Failure
      ? this.stop(all, edited)
      : this.finish(edited, found.possible, all)
  }

  private edit(chosen: readonly ChosenChange[]): Adopted | Failure {
    if (chosen.length === 0) return { texts: new Map(), notes: [] }
    const { packagePath, files, functions } = this
    try {
      return adoptThroughPipeline({
        packagePath,
        files,
        functions,
        changes: chosen.map(({ resolved }) => resolved),
      })
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown
      throw thrown
    }
  }

  private listReasons(chosen: readonly ChosenChange[]): readonly RefusedChange[] {
    return chosen.slice(0, MOST_TRIED).flatMap((each) => {
      const edited = this.edit([each])
      return edited instanceof Failure ? [{ change: each.change, why: formatReason(edited) }] : []
    })
  }

  private stop(refused: readonly RefusedChange[], failure?: Failure): FunctionOutput {
    const results = refused.map((each) => createRefusalResult(each, 'error'))
    if (failure !== undefined && results.length === 0)
      results.push({ message: formatFailure(failure), severity: 'error' })
    return { items: this.items, results, exitCode: 1, stderr: '' }
  }

  private finish(
    { texts: edited, notes }: Adopted,
    chosen: readonly ChosenChange[],
    refused: readonly RefusedChange[],
  ): FunctionOutput {
    const prefix = `${this.packagePath}/`
    const texts = new Map(
      [...edited].map(([path, text]) => [
        path.startsWith(prefix) ? path.slice(prefix.length) : path,
        text,
      ]),
    )
    const inRender = this.items.some((item) => findAnnotation(item, PACKAGE_PATH) !== undefined)
    const items = this.own.replaceTexts(texts)
    const results = [
      ...chosen.map(({ change }) => changeResult(change, 'info', describeLanded(change))),
      ...[...texts.keys()].map((path) => this.createFileResult(path, inRender)),
      ...notes.map(
        ({ subject, text }): FunctionResult => ({
          message: `${subject}: ${text}`,
          severity: 'warning',
        }),
      ),
      ...refused.map((each) => createRefusalResult(each, 'warning')),
    ]
    if (chosen.length > 0 && !this.own.hasKptfile) results.push(NO_KPTFILE)
    return createSuccess(items, results)
  }

  private createFileResult(path: string, inRender: boolean): FunctionResult {
    const file = { path: this.own.folder === '' ? path : `${this.own.folder}/${path}` }
    // kpt reads the pipeline before the first function runs.
    return inRender && (path === 'Kptfile' || path.endsWith('/Kptfile'))
      ? {
          message: `edited ${file.path}: functions use its values from the next render on, so render once more`,
          severity: 'warning',
          file,
        }
      : { message: `edited ${file.path}`, severity: 'info', file }
  }
}

const NO_KPTFILE: FunctionResult = {
  message:
    'the resources contain no Kptfile, so the pipeline is unknown: the values were edited in place',
  severity: 'warning',
}

function createRefusalResult(
  { change, why }: RefusedChange,
  severity: 'error' | 'warning',
): FunctionResult {
  return changeResult(change, severity, `not adopted: ${why}`)
}

function describeLanded({ change }: Change): string {
  return change === 'removed' || change === 'missing'
    ? 'adopted: removed, as in the cluster'
    : 'adopted: git now matches the cluster'
}

function formatReason(failure: Failure): string {
  return `${failure.why}: ${getRemedy(failure)}`
}

/** Without Backporch's command line. */
function getRemedy({ code, remedy }: Failure): string {
  if (code === 'BP2014') return 'name one of them in the field via of the change'
  if (code === 'BP1201' || code === 'BP1206')
    return 'here only built-in functions run: use "backporch adopt" with the function allowed'
  return remedy
}

function formatFailure(failure: Failure): string {
  const where = failure.where === undefined ? '' : ` (${failure.where})`
  return convertToOneLine(`${failure.what}${where}: ${failure.why}: ${getRemedy(failure)}`, 1000)
}

/**
 * adopt-drift would call itself, and a gate that is shut while drift is undecided must not block
 * the decision.
 */
function passOwnCalls(library: FunctionLibrary): FunctionLibrary {
  return {
    answer: (call) => (isOwn(call.step) ? createSuccess(call.input.items) : library.answer(call)),
  }
}

function isOwn({ function: { image, exec } }: PipelineStep): boolean {
  return (image === undefined ? (exec ?? '').trim().split(/\s+/) : [image]).some((word) =>
    OWN.test(word),
  )
}
