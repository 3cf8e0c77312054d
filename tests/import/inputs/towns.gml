Creator "written for the tests"
graph [
  Network "Four towns"
  node [ id 0 label "Oslo" Longitude 10.75 Latitude 59.91 ]
  node [ id 1 label "Den Haag" Longitude 4.30 Latitude 52.08 ]
  node [ id 2 label "Z&#252;rich" Longitude 8.54 Latitude 47.37 ]
  node [ id 3 label "Reykjavik" ]
  edge [ source 0 target 1 distance 950 ]
  edge [ source 1 target 2 distance 700 capacity 2500000000.0 ]
  edge [ source 2 target 1 distance 600 ]
  edge [ source 2 target 2 ]
]
