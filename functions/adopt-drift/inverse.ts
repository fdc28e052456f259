import { type Inverse, obstacle } from '../../src/proposal/adopt/find-locations.ts'

/** The live value in a report is a fact, and nothing to edit. */
export const invertAdoptDrift: Inverse = ({ run }) =>
  obstacle(run, 'adopt-drift writes what a report says was live, and a report is not edited')
