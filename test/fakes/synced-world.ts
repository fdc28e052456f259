/** A repository without a Kptfile that a syncer applies, and the programs that may build its units. */
import type { Json } from '@backporch/kyaml/json'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import type { PackageBuilder } from '../../src/sources/programs/package-builder.ts'
import { InProcessRenderer } from './in-process-renderer.ts'
import { TurnWorld } from './turn-world.ts'

export class SyncedWorld extends TurnWorld {
  private readonly programs: readonly string[]
  /** The notes of the last `adopted`. */
  told: readonly string[] = []
  /** Builds that were asked for. */
  builds = 0
  /** How often builds were asked for while none was running. */
  rounds = 0
  private running = 0

  /** @param programs as of `--allow-render` */
  constructor(files: { readonly [path: string]: string }, programs: readonly string[]) {
    super('{mode: Propose}', files)
    this.programs = programs
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
  }

  override sync(): void {}

  override request(more = {}) {
    const builds = new PackageBuilds({ allowed: this.programs, environment: process.env })
    const counted: PackageBuilder = {
      library: builds.library,
      build: async (build, signal) => {
        this.builds += 1
        if (this.running === 0) this.rounds += 1
        this.running += 1
        try {
          return await builds.build(build, signal)
        } finally {
          this.running -= 1
        }
      },
    }
    return super.request({ renderer: addPackageBuilds(new InProcessRenderer(), counted), ...more })
  }

  /** `<resource of the syncer>: <state>` of each unit, or `<code> <why>`. */
  async states(): Promise<{ readonly [unit: string]: string }> {
    const { units } = await this.scan()
    return Object.fromEntries(
      units.map((unit) =>
        unit.state === 'failed'
          ? [unit.packagePath, `${unit.failures[0]?.code} ${unit.failures[0]?.why}`]
          : [
              unit.plan.report.spec.unit.package,
              `${unit.plan.report.spec.unit.appliedBy}: ${unit.plan.report.status.state}`,
            ],
      ),
    )
  }

  /** The files that change where a hand edit is adopted. @param at the object by its key, and its unit */
  async adopted(
    { key, unit }: { readonly key: string; readonly unit: string },
    field: string,
    value: Json,
    via?: string,
  ): Promise<{ readonly [path: string]: string | undefined }> {
    this.edit(key, field, value)
    return this.adoptedIn(unit, via)
  }

  /** The files that change where everything that the unit shows is adopted. */
  async adoptedIn(
    unit: string,
    via?: string,
  ): Promise<{ readonly [path: string]: string | undefined }> {
    const { branch, notes } = await this.plan({
      packages: [unit],
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined, via },
    })
    this.told = notes.map(({ cause, text }) => `${cause}: ${text}`)
    const { repository } = this
    const paths = [...new Set([...repository.paths(branch), ...repository.paths('main')])]
    const changed = paths.filter(
      (path) =>
        !path.startsWith('.drift/') &&
        repository.text(branch, path) !== repository.text('main', path),
    )
    return Object.fromEntries(changed.map((path) => [path, repository.text(branch, path)]))
  }
}
