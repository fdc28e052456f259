import type { ClusterReader, Inventory } from '@backporch/cluster/cluster'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { getPartAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState, type ResourceId } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { ClusterCapabilities, SyncerBuild } from '../../../sources/build/built-source.ts'
import type { SourceAnswers, UnitSource, VariablesRef } from '../../../sources/build/unit-source.ts'

type Named = Pick<VariablesRef, 'kind' | 'namespace' | 'name'>

export class SourceBuilds {
  private readonly cluster: ClusterReader
  private readonly signal: AbortSignal
  private readonly built: ReadonlyMap<string, JsonObject>
  private readonly releases: ReadonlyMap<UnitSource, Promise<Inventory | Failure | undefined>>
  private readonly known = new Map<UnitSource, Promise<SyncerBuild>>()
  private asked: Promise<ClusterCapabilities> | undefined

  /**
   * @param sources all, because their releases are read together
   * @param built ConfigMaps that replace the cluster's, by `getResourceKey`
   */
  constructor(
    cluster: ClusterReader,
    sources: readonly UnitSource[],
    signal: AbortSignal,
    built: ReadonlyMap<string, JsonObject> = new Map(),
  ) {
    this.cluster = cluster
    this.signal = signal
    this.built = built
    const releasing = sources.flatMap((source) =>
      source.release === undefined
        ? []
        : [{ source, helmRelease: source.release, withChart: true }],
    )
    const read =
      releasing.length === 0 ? Promise.resolve([]) : cluster.readInventories(releasing, signal)
    read.catch(() => undefined)
    this.releases = new Map(
      releasing.map(({ source }, at) => [source, read.then((all) => all[at])]),
    )
    for (const each of this.releases.values()) each.catch(() => undefined)
  }

  /** @throws Failure BP30xx if the cluster cannot be asked */
  getBuild(source: UnitSource): Promise<SyncerBuild> {
    const build = this.known.get(source) ?? this.build(source)
    this.known.set(source, build)
    return build
  }

  /**
   * Why a source is not compared, if that is no failure.
   * @throws Failure BP30xx if the cluster cannot be asked
   */
  async findRefusal(source: UnitSource): Promise<string | undefined> {
    const { unstored } = source
    return typeof unstored === 'object' && isNotStored(await this.releases.get(source))
      ? unstored.why
      : undefined
  }

  private async build(source: UnitSource): Promise<SyncerBuild> {
    const inputs = new Inputs()
    const { variablesFrom, valuesFrom = [] } = source
    const named: readonly Named[] = [...variablesFrom, ...valuesFrom]
    const states = await this.cluster
      .readLive(named.map(createWanted), this.signal)
      .catch((thrown: unknown) => {
        this.signal.throwIfAborted()
        inputs.problems.push(convertToFailure(thrown).why)
        return new Map<string, LiveState>()
      })
    const stateOf = (ref: Named): LiveState | undefined => {
      const key = getResourceKey(createWanted(ref).id)
      const object = this.built.get(key)
      return object === undefined
        ? states.get(key)
        : { state: 'present', object, metadataOnly: false }
    }
    for (const ref of variablesFrom) inputs.addVariables(ref, stateOf(ref))
    const values = valuesFrom.map((ref) =>
      inputs.findEntries('valuesFrom', { ...ref, optional: true }, stateOf(ref))?.get(ref.key),
    )
    const answers: SourceAnswers = {
      variables: inputs,
      values,
      release: await this.chooseRelease(source, inputs),
      parent: source.partOf === undefined ? undefined : await this.getBuild(source.partOf),
    }
    return this.completeBuild(source, source.build(answers), inputs)
  }

  private async completeBuild(
    { pinned }: UnitSource,
    made: SyncerBuild,
    { problems: [problem] }: Inputs,
  ): Promise<SyncerBuild> {
    const capabilities = made.builder.tool.asksCluster ? await this.getCapabilities() : undefined
    return { ...made, ...omitUndefined({ problem, capabilities, pinned }) }
  }

  private async chooseRelease(
    source: UnitSource,
    inputs: Inputs,
  ): Promise<SourceAnswers['release']> {
    const { release } = source
    if (release === undefined) return undefined
    const name = `the Helm release ${release.namespace}/${release.name}`
    const found = await this.releases.get(source)
    if (source.unstored === 'chart' && isNotStored(found)) return undefined
    if (found instanceof Failure) inputs.problems.push(`${name} cannot be read: ${found.why}`)
    else if (found?.release === undefined) inputs.problems.push(`${name} does not exist yet`)
    else return found.release
    return undefined
  }

  private getCapabilities(): Promise<ClusterCapabilities> {
    this.asked ??= this.cluster
      .identify(this.signal)
      .then(({ version, apiVersions = [] }) => ({ version, apiVersions }))
    return this.asked
  }
}

function isNotStored(found: Inventory | Failure | undefined): boolean {
  return found instanceof Failure ? found.code === 'BP3012' : found?.release === undefined
}

class Inputs {
  readonly values = new Map<string, string>()
  readonly sources = new Map<string, ResourceId>()
  readonly problems: string[] = []

  addVariables(ref: VariablesRef, state: LiveState | undefined): void {
    for (const [key, value] of this.findEntries('substituteFrom', ref, state) ?? []) {
      // As in Flux: a value has one line.
      this.values.set(key, value.replaceAll('\n', ''))
      this.sources.set(key, createWanted(ref).id)
    }
  }

  findEntries(
    field: string,
    ref: Named & Pick<VariablesRef, 'optional'>,
    state: LiveState | undefined,
  ): ReadonlyMap<string, string> | undefined {
    const name = `${ref.kind} ${ref.namespace}/${ref.name}`
    if (state?.state === 'unreadable')
      this.problems.push(`${field} names the ${name}, which cannot be read: ${state.failure.why}`)
    if (state?.state === 'absent' && !ref.optional)
      this.problems.push(`${field} names the ${name}, which does not exist`)
    if (state?.state !== 'present') return undefined
    if (state.metadataOnly)
      this.problems.push(`${field} names the ${name}, whose content this account does not read`)
    return readEntries(ref, state.object)
  }
}

function readEntries({ kind }: Named, object: JsonObject): ReadonlyMap<string, string> {
  const data = getPartAt(object, 'data')
  const plain = (value: string): string =>
    kind === 'Secret' ? Buffer.from(value, 'base64').toString('utf8') : value
  const entries = isJsonObject(data) ? Object.entries(data) : []
  return new Map(
    entries.flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, plain(value)] as const] : [],
    ),
  )
}

function createWanted({ kind, namespace, name }: Named) {
  return { id: { group: '', kind, namespace, name }, apiVersion: 'v1' }
}
