import { type Inverse, obstacle } from '../../src/proposal/adopt/find-locations.ts'

export const invertNames: Inverse = ({ run }) => obstacle(run, 'the function writes names, and another name is another object')
