/**
 * Runs `helm template` with the files, values and parameters of the Application (argo-cd 3.2.0
 * `reposerver/repository/repository.go` helmTemplate, `util/helm/cmd.go` template,
 * `util/io/path/resolved.go`).
 */
import type { PackageFile } from '@backporch/kyaml/files'
import {
  filterObjects,
  filterTexts,
  findNonEmptyText,
  formatJson,
  getKey,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { findOwnerName } from '@backporch/kyaml/resource'
import type {
  HelmChart,
  HelmOrder,
  SyncerBuild,
  SyncerBuilder,
  ValuesLayer,
  ValuesPlace,
} from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { listChartLayers, parseValues, setValueAt } from '../helm/chart/chart-values.ts'
import { buildCapabilityArgs, createHelmOrder } from '../helm/chart/helm-order.ts'
import { followLinks } from '../helm/chart/linked-files.ts'
import { HELM_TOOL } from '../helm/helm-tool.ts'
import { joinFolderPath, resolvePath } from '../kustomize/files/kustomization-walk.ts'
import {
  readKustomizationAt,
  type SourceFiles,
  readSourceText as textOfFile,
} from '../kustomize/files/kustomize-build.ts'
import { getDestinationNamespace } from './argo-kustomize.ts'
import {
  type ArgoSource,
  createArgoRefusal,
  overrideNames,
  resolveArgoSource,
  substituteEnvironment,
} from './argo-source.ts'

interface ArgoChart extends ArgoSource {
  /** By name of a source with `ref`: it is this repository. */
  readonly refs: ReadonlyMap<string, boolean>
}

const ARGO_VALUES = '.git/values.yaml'

export function createArgoHelm(of: ArgoChart): SyncerBuilder {
  return {
    ...PLAIN_BUILDER,
    fields: ['spec', ...of.at, 'helm'],
    overrides: { names: overrideNames(of), field: 'helm' },
    tool: HELM_TOOL,
    way: {
      helm: ({ build, object, folder, files }) =>
        new Template(of, object, folder, files).order(build),
      chart: ({ build, object, folder, files }) =>
        new Template(of, object, folder, files).buildChart(build),
      reads: (object, folder, files) => new Template(of, object, folder, files).listFiles(),
    },
    namespace: getDestinationNamespace,
  }
}

class Template {
  private readonly of: ArgoChart
  private readonly object: JsonObject
  private readonly folder: string
  private readonly read: SourceFiles
  private readonly source: JsonObject
  private readonly given: JsonObject

  constructor(of: ArgoChart, object: JsonObject, folder: string, files: SourceFiles) {
    this.of = of
    this.object = object
    this.folder = folder
    this.read = files
    this.source = resolveArgoSource({ ...of, tool: 'helm' }, object, folder, files)
    const given = getPartAt(this.source, 'helm')
    this.given = isJsonObject(given) ? given : {}
  }

  /**
   * From the repository root.
   * @throws Failure BP1210
   */
  listFiles(): readonly string[] {
    return [...this.listValueFiles(), ...this.listFileParameters().map(([, path]) => path)]
  }

  /** @throws Failure BP1210 */
  order({ capabilities }: SyncerBuild): HelmOrder {
    const [version, kubeVersion] = [
      getTextAt(this.given, 'version'),
      findNonEmptyText(this.given, 'kubeVersion'),
    ]
    if (!['', 'v3'].includes(version))
      throw createArgoRefusal(this.source, `Argo CD has no Helm ${version}`)
    if (kubeVersion !== undefined && !/^v?\d+\.\d+/.test(kubeVersion))
      throw createArgoRefusal(this.source, `kubeVersion ${kubeVersion} is not a version`)
    const words = ['--name-template', this.releaseName()]
    const namespace =
      findNonEmptyText(this.given, 'namespace') ??
      findNonEmptyText(this.object, 'spec', 'destination', 'namespace')
    if (namespace !== undefined) words.push('--namespace', namespace)
    for (const parameter of filterObjects(getKey(this.given, 'parameters'))) {
      const option = getKey(parameter, 'forceString') === true ? '--set-string' : '--set'
      words.push(
        option,
        `${getTextAt(parameter, 'name')}=${escapeCommas(this.fillVariables(String(getKey(parameter, 'value') ?? '')))}`,
      )
    }
    for (const [name, path] of this.listFileParameters())
      words.push('--set-file', `${name}=${escapeCommas(path)}`)
    const isSkipped = getKey(this.given, 'ignoreMissingValueFiles') === true
    for (const path of this.listValueFiles())
      if (!isSkipped || this.read.has(path)) words.push('--values', path)
    const values = this.getInlineValues()
    if (values !== undefined) words.push('--values', ARGO_VALUES)
    const asked = {
      version: kubeVersion,
      apiVersions: filterTexts(getKey(this.given, 'apiVersions')),
    }
    words.push(...buildCapabilityArgs(asked, capabilities))
    if (getKey(this.given, 'skipCrds') !== true) words.push('--include-crds')
    if (getKey(this.given, 'skipSchemaValidation') === true) words.push('--skip-schema-validation')
    if (getKey(this.given, 'skipTests') === true) words.push('--skip-tests')
    return createHelmOrder(
      { folder: this.folder, files: this.read },
      words,
      values === undefined ? [] : [values],
    )
  }

  /** @throws Failure BP1210 */
  buildChart(build: SyncerBuild): HelmChart {
    const chart = { folder: this.folder, files: this.read }
    const read = this.listValueFiles().flatMap((path): ValuesLayer[] =>
      this.read.has(path)
        ? [
            {
              values: parseValues(textOfFile(path, this.read), path),
              place: { kind: 'file', path, under: [] },
              isDefault: false,
            },
          ]
        : [],
    )
    return {
      order: this.order(build),
      chart,
      title: undefined,
      layers: [...listChartLayers(chart), ...read, ...this.listOwnLayers(build)],
    }
  }

  private listOwnLayers(build: SyncerBuild): readonly ValuesLayer[] {
    const object = getKey(this.given, 'valuesObject')
    const isObject = object !== undefined && object !== null
    const text = getTextAt(this.given, 'values')
    const parameters = filterObjects(getKey(this.given, 'parameters')).reduce<JsonObject>(
      (values, each) =>
        setValueAt(values, getTextAt(each, 'name'), String(getKey(each, 'value') ?? '')) ?? values,
      {},
    )
    const own = isObject
      ? isJsonObject(object)
        ? object
        : {}
      : parseValues(text, 'the values of the Application')
    const kind = isObject || text === '' ? 'field' : 'text'
    const layers: ValuesLayer[] = [
      {
        values: own,
        place: this.getPlace(build, kind === 'field' ? 'valuesObject' : 'values', kind),
        isDefault: false,
      },
    ]
    if (Object.keys(parameters).length > 0)
      layers.push({
        values: parameters,
        place: this.getPlace(build, 'parameters', 'parameters'),
        isDefault: false,
      })
    return layers
  }

  /** The last file that sets the field: an override, else the one that declares the Application. */
  private getPlace(
    { declared, title, object }: SyncerBuild,
    name: string,
    kind: 'field' | 'text' | 'parameters',
  ): ValuesPlace {
    const override = overrideNames(this.of)
      .map((each) => joinFolderPath(this.folder, each))
      .findLast(
        (path) =>
          this.read.has(path) &&
          getPartAt(readKustomizationAt(path, this.read), 'helm', name) !== undefined,
      )
    if (override !== undefined) return { kind, path: override, document: 0, at: ['helm', name] }
    if (declared === undefined) {
      const set = findOwnerName(object, 'ApplicationSet')
      return {
        kind: 'elsewhere',
        title: set === undefined ? title : `${title} (made by the ApplicationSet ${set})`,
      }
    }
    return {
      kind,
      path: declared.path,
      document: declared.document,
      at: [...(declared.generator?.template ?? []), 'spec', ...this.of.at, 'helm', name],
    }
  }

  /** It may not contain an underscore (argo-cd `util/argo/argo.go` ParseInstanceName). */
  private releaseName(): string {
    const { instance } = this.of
    return getTextAt(this.given, 'releaseName') || instance.slice(instance.indexOf('_') + 1)
  }

  private getInlineValues(): PackageFile | undefined {
    const object = getKey(this.given, 'valuesObject')
    const text =
      object === undefined || object === null
        ? findNonEmptyText(this.given, 'values')
        : formatJson(object)
    return text === undefined
      ? undefined
      : { path: ARGO_VALUES, mode: '100644', content: new TextEncoder().encode(text) }
  }

  private listValueFiles(): readonly string[] {
    return filterTexts(getKey(this.given, 'valueFiles')).map((name) => this.resolveValuesPath(name))
  }

  private listFileParameters(): readonly (readonly [string, string])[] {
    return filterObjects(getKey(this.given, 'fileParameters')).map(
      (each) => [getTextAt(each, 'name'), this.resolveValuesPath(getTextAt(each, 'path'))] as const,
    )
  }

  /**
   * From the folder; with `/` from the repository root, and with the name of a `ref` from the root
   * of that source.
   */
  private resolveValuesPath(name: string): string {
    const [first = '', ...rest] = name.split('/')
    const isHere = first.startsWith('$') ? this.of.refs.get(first.slice(1)) : undefined
    if (isHere === false)
      throw createArgoRefusal(this.source, `its file ${name} is in another repository`)
    const text = this.fillVariables(isHere === undefined ? name : `/${rest.join('/')}`)
    if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text))
      throw createArgoRefusal(this.source, `its file ${text} is an address, and nothing is fetched`)
    const path = text.startsWith('/')
      ? resolvePath('', text.replace(/^\/+/, ''))
      : resolvePath(this.folder, text)
    const target = path === undefined || path === '' ? undefined : followLinks(path, this.read)
    if (target === undefined || target === '')
      throw createArgoRefusal(
        this.source,
        `its file ${name} is outside of the repository, or a link out of it`,
      )
    return target
  }

  private fillVariables(text: string): string {
    return substituteEnvironment(text, this.of, this.object, this.source)
  }
}

/** A comma separates parameters, except in a list (`{a,b}`). */
function escapeCommas(value: string): string {
  return value.startsWith('{') && value.endsWith('}') ? value : value.replace(/(?<!\\),/g, '\\,')
}
