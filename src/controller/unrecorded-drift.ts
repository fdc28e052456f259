/** While git is unreachable, this drift is recorded nowhere else. */
import { RISKS, type Risk } from '../drift/compare/drift.ts'
import type { UnitName } from './unit-queue.ts'

interface UnrecordedObjects extends UnitName {
  readonly risk: Risk
  readonly count: number
}

export class UnrecordedDrift {
  private readonly units = new Map<
    string,
    { readonly unit: UnitName; readonly objects: Map<string, Risk> }
  >()

  recordRisks(unit: UnitName, object: string, risks: readonly Risk[]): void {
    const key = getUnitKey(unit)
    const known = this.units.get(key) ?? { unit, objects: new Map<string, Risk>() }
    const worst = RISKS.find((risk) => risks.includes(risk))
    if (worst === undefined) known.objects.delete(object)
    else known.objects.set(object, worst)
    if (known.objects.size === 0) this.units.delete(key)
    else this.units.set(key, known)
  }

  markObserved(unit: UnitName): void {
    this.units.delete(getUnitKey(unit))
  }

  listObjects(): readonly UnrecordedObjects[] {
    return [...this.units.values()].flatMap(({ unit, objects }) =>
      [...Map.groupBy(objects.values(), (risk) => risk)].map(([risk, { length }]) => ({
        ...unit,
        risk,
        count: length,
      })),
    )
  }
}

function getUnitKey({ cluster, packagePath }: UnitName): string {
  return `${cluster}\0${packagePath}`
}
