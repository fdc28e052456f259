import type { World } from '../world.ts'

export async function runDemo(_world: World, _options: { controlPlane: boolean; keep: string | undefined }): Promise<number> {
  throw new Error('not written yet')
}
