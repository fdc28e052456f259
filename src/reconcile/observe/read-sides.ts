import type { FoundPackage } from '@backporch/kpt/package'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { OtherDeclaration } from '../../drift/detect/declared-twice.ts'
import { isLocated } from '../../sources/build/built-source.ts'
import { listClaims } from '../../syncers/claims.ts'
import type { DeclaredObjects } from './declared-objects.ts'
import type { LoadedPackage } from './load-package.ts'
import { formatUnitName, type LoadedSide, type ObservedFrom } from './observe.ts'
import { readClaimedInventories } from './read-claimed-inventories.ts'
import { isPlaced, type LiveSide, readLiveSides } from './read-live-sides.ts'
import { readUnexpected } from './read-unexpected.ts'
import type { TurnCache } from './turn-cache.ts'

type Loaded = LoadedPackage & { readonly found: FoundPackage }

export interface DeclaredFrom extends ObservedFrom {
  readonly declared: DeclaredObjects
}

export async function readSides(
  loaded: readonly Loaded[],
  { reader, own, identity, declared }: Omit<DeclaredFrom, 'view'>,
  between: TurnCache,
  signal: AbortSignal,
): Promise<readonly (LoadedSide & { readonly loaded: Loaded })[]> {
  const sides = (await readLiveSides(reader, declared.namespace, loaded, signal)).map(
    ({ of, side }) => {
      const known = between.getUnits(reader.name).getUnit(formatUnitName(of.unit), identity, side)
      return {
        of,
        known,
        side: { ...side, claims: known.claims.getAnswer(known, [], () => listClaims(side.live)) },
      }
    },
  )
  for (const { found, desired } of loaded)
    declared.remember(
      found.path,
      desired.resources.map(({ id }) => id),
    )
  const inventories = await readClaimedInventories(
    reader,
    own,
    sides.map(({ side }) => side),
    signal,
  )
  const packages = sides.map(
    ({ of: { unit, desired, files, unread, source, boundary }, side }, index) => {
      const { packagePath, packageName } = unit
      // A build has applied its kustomization's name changes.
      const built = source !== undefined && isLocated(source)
      const own = {
        packagePath,
        packageName,
        desired,
        files: built ? [] : files.files,
        unread,
        side,
      }
      return { ...own, boundary, inventories: inventories[index] ?? [] }
    },
  )
  const unexpected = await readUnexpected(reader, packages, declared, signal)
  const declarations = indexDeclarations(sides.map(({ side }) => side))
  return sides.flatMap(({ of, known, side }, position) => {
    const beyond = unexpected[position]
    return beyond === undefined
      ? []
      : [
          {
            loaded: of,
            known,
            read: side,
            unexpected: beyond,
            otherDeclarations: declarations.beside(side),
          },
        ]
  })
}

/** What a placement does not allow is not a declaration. */
function indexDeclarations(sides: readonly LiveSide[]): {
  readonly beside: (own: LiveSide) => LoadedSide['otherDeclarations']
} {
  const all = sides.flatMap((side) =>
    side.resources.filter(isPlaced).map(({ resource }) => ({ side, resource })),
  )
  const shared = [...Map.groupBy(all, ({ resource }) => getResourceKey(resource.id))].filter(
    ([, { length }]) => length > 1,
  )
  const declarationOf = ({
    resource: { location, object },
  }: (typeof all)[number]): OtherDeclaration => ({
    location: `${location.path}:${location.line}`,
    object,
  })
  return {
    beside: (own) =>
      new Map(
        shared.flatMap(([key, declared]) =>
          declared.some(({ side }) => side === own)
            ? [[key, declared.filter(({ side }) => side !== own).map(declarationOf)]]
            : [],
        ),
      ),
  }
}
